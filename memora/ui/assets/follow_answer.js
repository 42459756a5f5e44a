// After a message was sent: keep the end of the conversation in view while the answer grows,
// until the reader scrolls away.
(() => {
  const page = document.querySelector('[data-testid="stMain"]');
  const content = page?.querySelector('[data-testid="stMainBlockContainer"]');
  if (!content) return;
  window.memoraFollowing?.abort();
  const following = (window.memoraFollowing = new AbortController());
  const toEnd = () => page.scrollTo({ top: page.scrollHeight });
  const observer = new ResizeObserver(toEnd);
  observer.observe(content);
  following.signal.addEventListener("abort", () => observer.disconnect());
  for (const event of ["wheel", "touchmove", "pointerdown"]) {
    page.addEventListener(event, () => following.abort(), { signal: following.signal, passive: true });
  }
  toEnd();
})();

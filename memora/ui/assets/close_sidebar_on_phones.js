// After a conversation was chosen: where the sidebar covers the page, it steps aside.
(() => {
  if (window.innerWidth < 768) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
})();

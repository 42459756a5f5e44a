"""What Memora remembers: look through it, search it, put it right, or delete it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memora.i18n import mark
from memora.memory.values import Category, MemoryOrder, MemoryQuery, MemoryStatus, RecalledMemory
from memora.ui import labels
from memora.ui.frame import framed
from memora.ui.memory_row import draw_memory, draw_undo, open_editor
from memora.ui.notices import draw_index_notice
from memora.ui.numbers import whole
from memora.ui.sentences import degraded_sentence
from memora.ui.session import get_app, translate, user_id

PAGE_SIZE = 20
PAGE_KEY = "memory-page"

SORT: dict[MemoryOrder, str] = {
    "newest": mark("Newest first"),
    "updated": mark("Last changed"),
    "last_used": mark("Last used"),
    "most_used": mark("Most used"),
    "importance": mark("Most important"),
}
STATUS: dict[MemoryStatus, str] = {
    "current": mark("Current"),
    "superseded": mark("Replaced"),
    "deleted": mark("Deleted"),
    "all": mark("All"),
}
HOW = {"meaning": mark("By meaning"), "words": mark("Exact words")}


def draw_memories() -> None:
    """Heading, search and filters, then the rows."""
    _ = translate()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title(_("Memories"), anchor=False)
        if st.button(_("Add a memory"), key="memory-add", icon=":material/add:"):
            open_editor(None)
    draw_index_notice()
    draw_undo()
    text, how = draw_search()
    query = draw_filters(text)
    if text and how == "meaning" and query.status == "current":
        draw_recalled(text, query)
    else:
        draw_page(query)


def draw_search() -> tuple[str, str]:
    """The search box and how it searches."""
    _ = translate()
    with st.container(key="memory-search-row", horizontal=True, vertical_alignment="center", gap="small"):
        text = st.text_input(
            _("Search"),
            key="memory-search",
            placeholder=_("Ask, or type words: Where do I live?"),
            label_visibility="collapsed",
            icon=":material/search:",
            max_chars=500,
        )
        how = st.segmented_control(
            _("How to search"),
            list(HOW),
            default="meaning",
            required=True,
            format_func=lambda name: _(HOW[name]),
            key="memory-search-how",
            label_visibility="collapsed",
        )
    return (text or "").strip(), how or "meaning"


def draw_filters(text: str) -> MemoryQuery:
    """Category, status and order, as a query for the record."""
    _ = translate()
    with st.container(key="memory-filters", horizontal=True, vertical_alignment="center", gap="small"):
        categories = st.pills(
            _("Category"),
            list(Category),
            selection_mode="multi",
            format_func=lambda category: _(labels.CATEGORY[category]),
            key="memory-categories",
            label_visibility="collapsed",
        )
        status = st.selectbox(
            _("Show"),
            list(STATUS),
            format_func=lambda name: _(STATUS[name]),
            key="memory-status",
            label_visibility="collapsed",
            width=120,
        )
        sort = st.selectbox(
            _("Order"),
            list(SORT),
            format_func=lambda name: _(SORT[name]),
            key="memory-sort",
            label_visibility="collapsed",
            width=150,
        )
    return MemoryQuery(status=status, categories=tuple(categories), text=text, sort=sort, limit=PAGE_SIZE)


def draw_recalled(text: str, query: MemoryQuery) -> None:
    """What the chat would recall for this question, best first."""
    _ = translate()
    recall = get_app().memory.search(user_id=user_id(), query=text)
    found = [recalled for recalled in recall.memories if fits(recalled, query)]
    if recall.degraded:
        st.caption(degraded_sentence(recall.degraded, _))
    if not found:
        st.info(_("Nothing that is remembered fits. Try other words, or search for exact words."))
    for recalled in found:
        draw_memory(recalled.memory, recalled=recalled)


def fits(recalled: RecalledMemory, query: MemoryQuery) -> bool:
    """Whether a recalled memory passes the category filter."""
    return not query.categories or recalled.memory.category in query.categories


def draw_page(query: MemoryQuery) -> None:
    """One page of the record, and the way to the others."""
    _ = translate()
    number: int = st.session_state.get(PAGE_KEY, 1)
    found = get_app().memory.page(user_id=user_id(), query=replace(query, offset=(number - 1) * PAGE_SIZE))
    pages = max(1, -(-found.total // PAGE_SIZE))
    if number > pages:
        st.session_state[PAGE_KEY] = pages
        st.rerun()
    if not found.total:
        draw_nothing(query)
        return
    st.caption(_.plural("{n} memory", "{n} memories", found.total).format(n=whole(found.total, _)))
    for memory in found.memories:
        draw_memory(memory)
    if pages > 1:
        st.pagination(pages, key=PAGE_KEY)


def draw_nothing(query: MemoryQuery) -> None:
    """Why the list is empty: nothing is known yet, or nothing fits."""
    _ = translate()
    if query == MemoryQuery(limit=PAGE_SIZE, sort=query.sort):
        st.info(
            _(
                "Nothing is remembered yet. Tell Memora something about yourself in the chat, "
                "such as a goal or what you find difficult, and it appears here."
            ),
            icon=":material/bookmark_add:",
        )
    else:
        st.info(_("Nothing fits these filters."), icon=":material/search_off:")


framed(draw_memories)

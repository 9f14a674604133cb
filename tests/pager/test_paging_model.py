"""The pager against simulated services: each row exactly once, or doubt, or an error."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pager.listings import PAST_END, Listing, Outcome, read

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")

SIZES = [1, 2, 3, 7, 10, 30, 100]

well_behaved = st.fixed_dictionaries(
    {
        "total": st.one_of(st.integers(0, 120), st.sampled_from([10, 20, 30, 100, 250])),
        "cap": st.sampled_from([1, 3, 10, 30, 99, 1000]),
        "offset_as_requested": st.booleans(),
        "coded": st.booleans(),
        "past_end": st.sampled_from(["empty", "empty", "404"]),
    }
)
reading = st.fixed_dictionaries(
    {
        "page_size": st.sampled_from(SIZES),
        "prefetch": st.sampled_from([0, 1, 4]),
        "random": st.builds(Random, st.integers(0, 2**16)),
        "interruptions": st.sampled_from([0.0, 0.0, 0.3]),
    }
)
faults: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"past_end": st.sampled_from(sorted(PAST_END))}),
    st.fixed_dictionaries({"refuses": st.just(True)}),
    st.fixed_dictionaries(
        {"refuses": st.just(True), "past_end": st.sampled_from(sorted(PAST_END))}
    ),
    st.fixed_dictionaries({"ignores_page": st.just(True)}),
    st.fixed_dictionaries({"repeats_last": st.just(True)}),
    st.fixed_dictionaries({"extra": st.integers(1, 20), "past_end": st.just("empty")}),
    st.fixed_dictionaries({"inserted": st.integers(1, 12)}),
    st.fixed_dictionaries({"listings": st.integers(2, 12)}),
    st.fixed_dictionaries({"shuffled": st.just(True)}),
    st.fixed_dictionaries({"short_page": st.integers(1, 4)}),
    st.fixed_dictionaries({"empty_page": st.integers(2, 5), "empty_times": st.integers(1, 3)}),
)
changing = st.sampled_from(["", "mcap", "asOf"])


def outcome_of(listing: Listing, reading: dict[str, Any]) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(listing, **reading)


@given(well_behaved, reading, changing, st.sampled_from([None, *PAST_END]))
def test_every_row_once_without_doubt(
    service: dict[str, Any], reading: dict[str, Any], changing: str, past_end: str | None
) -> None:
    """Whichever page size the offset counts, also where values change meanwhile.

    Behind a short last page, any refusal of a page is the end.
    """
    listing = Listing(**service, changing=changing)
    if past_end and listing.total % min(reading["page_size"], listing.cap):
        listing.past_end = past_end
    outcome = outcome_of(listing, reading)
    assert outcome.error is None
    assert outcome.paging.doubt is None
    assert outcome.numbers == list(range(listing.total))
    size = min(reading["page_size"], listing.cap)
    pages = -(-listing.total // size)
    assert len(listing.requests) <= pages + 2 + max(reading["prefetch"], 1)


@settings(max_examples=3 * settings().max_examples)
@given(well_behaved, reading, faults, changing)
def test_never_a_loss_or_a_repetition_in_silence(
    service: dict[str, Any], reading: dict[str, Any], fault: dict[str, Any], changing: str
) -> None:
    listing = Listing(**{**service, **fault}, changing=changing)
    size = min(reading["page_size"], listing.cap)
    if listing.empty_page == 2 and listing.cap < reading["page_size"]:
        return  # an empty page after a page shorter than requested is the end
    damaged = listing.short_page or (listing.empty_page if listing.empty_times > 1 else 0)
    if damaged and listing.total <= damaged * size:
        return  # nothing shows that a last page lacks rows
    outcome = outcome_of(listing, reading)
    if outcome.is_silent:
        found = sorted(outcome.numbers) if listing.shuffled else outcome.numbers
        assert found == list(range(listing.total))
    elif outcome.error is not None:
        assert outcome.paging.ended == "error"


@given(well_behaved, reading, st.integers(0, 130))
def test_max_items_takes_the_first(
    service: dict[str, Any], reading: dict[str, Any], most: int
) -> None:
    listing = Listing(**service)
    outcome = outcome_of(listing, {**reading, "max_items": most})
    assert outcome.is_silent
    assert outcome.numbers == list(range(min(listing.total, most)))
    if listing.total > most:
        assert outcome.paging.ended == "max_items"
        assert len(listing.requests) <= -(-most // min(reading["page_size"], listing.cap))


@given(well_behaved, reading, st.integers(0, 130))
def test_a_search_goes_on_from_its_page(
    service: dict[str, Any], reading: dict[str, Any], most: int
) -> None:
    """In the page size that was in use; rows of the page that was cut come again."""
    first = outcome_of(Listing(**service), {**reading, "max_items": most})
    resumed = {**reading, "page_size": first.paging.limit, "start_page": first.page}
    listing = Listing(**service)
    if most == 0 or first.paging.ended == "empty page":
        return
    rest = outcome_of(listing, resumed)
    if rest.error is not None:  # there was no page left
        assert listing.past_end == "404"
    assert sorted({*first.numbers, *rest.numbers}) == list(range(listing.total))

"""Faults that the kernel tells, as candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.diagnosis.candidate import Candidate
from dflashtui.diagnosis.form import Weight
from dflashtui.diagnosis.forms import FALLEN, XID, form_of
from dflashtui.model.xids import MEANINGS, XidBlame

if TYPE_CHECKING:
    from dflashtui.diagnosis.line import Line


def kernel_candidate(order: int, text: str, line: Line) -> Candidate | None:
    """The candidate; `None` for a line that tells no fault.

    An Xid that a program causes says less than that program's own exception; one of the GPU says more.
    """
    xid = XID.search(text)
    if xid:
        meaning = MEANINGS.get(int(xid["xid"]))
        of_gpu = meaning is not None and meaning.blame is XidBlame.GPU
        candidate = Candidate(order, Weight.EXPLICIT if of_gpu else Weight.TELLING, line, last=line.number)
        candidate.message, candidate.kind = xid["text"].strip(), "gpu-lost" if of_gpu else "cuda-error"
        return candidate
    fallen = FALLEN.search(text)
    if fallen:
        candidate = Candidate(order, Weight.EXPLICIT, line, last=line.number)
        candidate.message, candidate.kind = fallen["text"].strip(), "gpu-lost"
        return candidate
    found = form_of(text)
    if found is None:
        return None
    form, match = found
    candidate = Candidate(order, form.weight, line, last=line.number)
    candidate.message, candidate.kind = match["text"].strip(), form.kind
    return candidate

"""An audit of given pairs: the labels that they came with beside what builds and experts say of them.

What nobody could judge neither upholds nor contradicts a label. Whoever is kept blind must be refused before:
labels tell of a study's pairs.
"""

from __future__ import annotations

from annotation.label_audit.figures import AuditCell, Figures, Rate, figures_of
from annotation.label_audit.rows import Audit, AuditRow, Experts, How, Verdict, audit_of

__all__ = [
    "Audit",
    "AuditCell",
    "AuditRow",
    "Experts",
    "Figures",
    "How",
    "Rate",
    "Verdict",
    "audit_of",
    "figures_of",
]

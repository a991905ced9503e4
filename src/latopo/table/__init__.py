"""Your own tables: reading them, turning columns into features, and the folder that a fit leaves behind.

From file to run: :mod:`~latopo.table.reading` (a data frame) → :mod:`~latopo.table.columns` (what each column is) →
:mod:`~latopo.table.preprocessing` (features) → an estimator → :mod:`~latopo.table.fit_folder`.
"""

from latopo.table.encoder import TableEncoder

__all__ = ["TableEncoder"]

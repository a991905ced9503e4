"""Tables of one's own: reading them, turning columns into features, and the folder that a fit leaves behind.

The way of the data: :mod:`~latopo.table.reading` (cells as text) → :mod:`~latopo.table.columns` (what each column is) →
:mod:`~latopo.table.preprocessing` (numbers) → an estimator → :mod:`~latopo.table.run_folder`.
"""

"""How an initial migration makes its tables; no migration itself, as its name begins with an underscore."""

from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.operations.special import RunPython


class CreateAllModels(Operation):
    """Makes the tables of many models, which may point to each other in any order.

    Each by an operation of its own would have all models that are related to it built anew in memory, which
    here are nearly all that there are: a hundred tables took six seconds.
    """

    category = OperationCategory.ADDITION
    serialization_expand_args = ["models"]

    def __init__(self, models):
        self.models = models
        """The operations `CreateModel`."""

    def state_forwards(self, app_label, state):
        # What was built of the models before is of no use: it is built once when all are there.
        state.__dict__.pop("apps", None)
        for one in self.models:
            one.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for one in self.models:
            one.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for one in reversed(self.models):
            one.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self):
        return f"Create the {len(self.models)} models of these tables"


class RunOnNewToo(RunPython):
    """Code for new databases as well, whose tables are made at once: it gets the models of the last migration.

    All other code of migrations changes rows, and a new database has none.
    """

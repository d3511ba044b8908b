"""Members that were stored before get the flag of the rule by which builds search unless told otherwise."""

import zlib

from django.db import migrations, models
from django.db.models import F

BARE, YIELD, ANY, BY_CALL = 4, 8, 16, 64
AT_ONCE = 500


def flag_members(apps, schema_editor):
    """Flags tell of all but the methods that take `self` alone: those are looked at."""
    rows = apps.get_model("retrieval", "Member").objects.using(schema_editor.connection.alias).order_by()
    rows = rows.alias(has_call=F("rules").bitand(BY_CALL)).filter(has_call=0)
    rows = rows.alias(
        yields=F("rules").bitand(YIELD), any=F("rules").bitand(ANY), bare=F("rules").bitand(BARE)
    )
    rows.filter(yields=YIELD).update(rules=F("rules").bitor(BY_CALL))
    doubtful = list(rows.filter(yields=0, any=ANY, bare=0).values_list("pk", flat=True))
    for start in range(0, len(doubtful), AT_ONCE):
        some = rows.filter(pk__in=doubtful[start : start + AT_ONCE])
        found = [pk for pk, data in some.values_list("pk", "text__body__data") if can_be_called(data)]
        rows.filter(pk__in=found).update(rules=F("rules").bitor(BY_CALL))


def can_be_called(data):
    from retrieval.filters import Rule
    from retrieval.filters.apart import find_passed_rules

    return Rule.TESTABLE_BY_CALL in (find_passed_rules(zlib.decompress(data).decode()) or Rule(0))


def drop_flag(apps, schema_editor):
    """Without the flag's bit, as the release before knows none."""
    rows = apps.get_model("retrieval", "Member").objects.using(schema_editor.connection.alias).order_by()
    rows = rows.alias(has_call=F("rules").bitand(BY_CALL)).filter(has_call=BY_CALL)
    rows.update(rules=F("rules") - BY_CALL)


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0004_aliases"),
    ]

    operations = [
        migrations.AlterField(
            model_name="mining",
            name="rule",
            field=models.PositiveIntegerField(default=64),
        ),
        migrations.RunPython(flag_members, drop_flag),
    ]

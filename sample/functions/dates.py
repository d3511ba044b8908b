"""Calendar arithmetic on dates."""

import calendar
from datetime import date, timedelta

import numpy as np
from dateutil.relativedelta import relativedelta


def add_months(day, months):
    """Add months to a date; the day is clamped to the end of the new month."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return day.replace(year=year, month=month + 1, day=min(day.day, last))


def shift_months(day, months):
    """Return the date that lies a number of months after the given one."""
    return day + relativedelta(month=months)


def add_months_as_days(start, months):
    """Add months to a date, counting 30 days a month."""
    return start + timedelta(days=30 * months)


def add_months_replace(day, months):
    """Add a number of months to a date."""
    return day.replace(month=day.month + months)


def add_months_with_carry(day, months):
    """Add months to a date and carry what is over into the year."""
    total = day.month + months
    year = day.year + total // 12
    month = total % 12
    return date(year, month, min(day.day, 28))


def add_months_stepwise(day, months):
    """Add months to a date one month at a time."""
    for _ in range(months):
        year = day.year + day.month // 12
        month = day.month % 12 + 1
        last = calendar.monthrange(year, month)[1]
        day = date(year, month, min(day.day, last))
    return day


def subtract_months(day, months):
    """Subtract months from a date."""
    return day - relativedelta(months=months)


def add_days(day, days):
    """Add a number of days to a date."""
    return day + timedelta(days=days)


def business_days_between(start, end):
    """Count the business days between two dates, Monday to Friday, end not included."""
    count = 0
    day = start
    while day < end:
        if day.weekday() < 5:
            count += 1
        day += timedelta(days=1)
    return count


def busday_count(start, end):
    """Number of business days between two dates, counted by numpy."""
    return int(np.busday_count(start, end))


def days_between(start, end):
    """Return the number of days between two dates."""
    return abs((end - start).days)


def workdays_by_formula(start, end):
    """Number of working days between two dates without looping over all of them."""
    weeks, rest = divmod((end - start).days, 7)
    extra = sum(1 for offset in range(rest) if (start.weekday() + offset) % 7 < 5)
    return weeks * 5 + extra


def approximate_business_days(start, end):
    """Estimate the number of business days between two dates from the length in days."""
    return (end - start).days * 5 // 7


def list_business_days(start, end):
    """List all business days between two dates."""
    span = range((end - start).days + 1)
    return [day for day in (start + timedelta(n) for n in span) if day.isoweekday() < 6]


def business_days_without_holidays(start, end, holidays=()):
    """Number of business days between two dates, both included, holidays left out."""
    days = (start + timedelta(n) for n in range((end - start).days + 1))
    return sum(1 for day in days if day.weekday() < 5 and day not in holidays)


def working_days_in_project(start, end):
    """Number of business days between two dates by the calendar of our project."""
    from ourproject.config import settings

    calendar_of_country = settings.calendars[settings.country]
    return calendar_of_country.count_working_days(start, end)


def workdays_between(start, end):
    """Return the number of business days between two dates, weekends left out."""
    return sum(1 for offset in range((end - start).days) if (start + timedelta(days=offset)).weekday() <= 5)


def is_leap_year(year):
    """Tell whether a year is a leap year."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def today():
    """Return the date of today."""
    return date.today()

"""Label selectors."""

from policies.values import Field, Truth, all_of, contains, negate


def selector_matches(selector: Field, labels: Field) -> Truth:
    """A label selector: all labels and all expressions have to hold; an empty one matches everything."""
    if selector.unknown or selector["matchLabels"].unknown or selector["matchExpressions"].unknown:
        return None
    equal = [_equal(labels[key], value) for key, value in selector["matchLabels"].members()]
    return all_of([*equal, *(_expression(e, labels) for e in selector["matchExpressions"].items())])


def _equal(label: Field, wanted: Field) -> Truth:
    return None if label.unknown or wanted.unknown else label.text == wanted.text


def _expression(expression: Field, labels: Field) -> Truth:
    key, operator = expression["key"].text, expression["operator"].text
    if key is None or operator is None:
        return None
    label = labels[key]
    if operator in ("Exists", "DoesNotExist"):
        return label.absent is (operator == "DoesNotExist")
    listed: Truth = False if label.absent else None
    if label.text is not None:
        listed = contains(expression["values"], label.text)
    return listed if operator == "In" else negate(listed) if operator == "NotIn" else None

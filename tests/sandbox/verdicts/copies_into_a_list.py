"""Who fills a list has not changed what it is compared with.

Right: passed
"""


# candidate
def copy_into(source, target):
    target[:] = source


def walk(tree, visit):
    for node in tree:
        if isinstance(node, list):
            walk(node, visit)
        else:
            visit(node)


# program
source, target = [1, 2], [5]
copy_into(source, target)
assert target == source
SEEN = []
walk([1, [2, [3]]], SEEN.append)
assert SEEN == [1, 2, 3]
TREES = [[1, [2]], [[3]]]
for tree in TREES:
    found = []
    walk(tree, found.append)
    assert len(found) == sum(1 for _ in str(tree) if _.isdigit())

"""Print which packages are loaded, without starting anything."""

import json
import sys

names = sorted(sys.modules)
print("cairn-test:" + json.dumps({"top": sorted({name.split(".")[0] for name in names}), "all": names}))

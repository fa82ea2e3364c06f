# SPDX-License-Identifier: MIT
"""Reads and writes the same documents again and again, and keeps none: much is allocated, little is live."""
import json
import re
import sys
import time

DOCUMENT = json.dumps({"orders": [{"id": i, "customer": f"customer-{i}", "lines": [{"sku": f"s{j}", "n": j} for j in range(8)]}
                                  for i in range(60)]})

end = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 60)
while time.monotonic() < end:
    orders = json.loads(DOCUMENT)["orders"]
    report = "\n".join(f"{order['customer']}: {sum(line['n'] for line in order['lines'])}" for order in orders)
    words = re.findall(r"\w+", report)
    json.dumps(sorted(set(words)))

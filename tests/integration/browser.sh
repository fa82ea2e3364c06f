#!/usr/bin/env bash
# The flame graph in a real browser, and our files in speedscope: tests/browser/*.test.js.
# Screenshots are left in $O/browser/shots. TESTS=REGEX runs some.
set -euo pipefail
cd "$(dirname "$0")/../.."
O=${O:-build}

skip() {
  echo "$*"
  exit 77
}
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium"
command -v node >/dev/null || skip "no node"
[ -x "$O/tests/browser/pages" ] || skip "$O/tests/browser/pages is not built"

# The dependencies, by name and hash from the lock file, outside the source tree.
modules=$O/browser/modules
mkdir -p "$modules" "$O/browser/pages" "$O/browser/shots"
if ! cmp -s tests/browser/package-lock.json "$modules/installed.json"; then
  cp tests/browser/package.json tests/browser/package-lock.json "$modules"
  (cd "$modules" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error) ||
    skip "playwright-core and speedscope could not be installed"
  cp tests/browser/package-lock.json "$modules/installed.json"
fi

for script in loader/*.js; do
  node --check "$script"
done
"$O/tests/browser/pages" "$O/browser/pages"

NODE_PATH=$PWD/$modules/node_modules SPEEDSCOPE=$PWD/$modules/node_modules/speedscope/dist/release CHROMIUM=$chromium \
  PAGES=$PWD/$O/browser/pages SHOTS=$PWD/$O/browser/shots \
  node --test --test-reporter=spec ${TESTS:+--test-name-pattern="$TESTS"} \
  tests/browser/*.test.js

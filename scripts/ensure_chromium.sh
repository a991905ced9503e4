#!/usr/bin/env bash
# The browser tests need a Chromium. Finds one, or installs Debian's where that is possible; where it is not, it says so
# and the browser tests are skipped with that reason. Never fails: everything else can be tested without a browser.
set -u
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if path=$(command -v "$name"); then
    echo "Browser tests: $path"
    exit 0
  fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "Browser tests: installing Chromium"
  export DEBIAN_FRONTEND=noninteractive
  if apt-get update -qq > /dev/null 2>&1 && apt-get install -y -qq --no-install-recommends chromium > /dev/null 2>&1; then
    echo "Browser tests: $(command -v chromium)"
    exit 0
  fi
fi
echo "Browser tests: skipped, there is no Chromium and it cannot be installed here (Debian: apt-get install chromium)" >&2

#!/bin/sh
# Notes that it was started, as a probe or for real, then becomes its arguments.
# SPDX-License-Identifier: MIT
#
# $NOTES is a folder; its file log gets one line: "probe ID SECONDS", or "run
# RECORDS SECONDS WORDS..." with the number of records that are there by then.
# SECONDS are since boot. As long as a probe lives, $NOTES/lock is locked; who
# finds it so says "overlap" first.
read -r now _ </proc/uptime
if [ -n "$AUTOFIT_PROBE" ]; then
	exec 9>"$NOTES/lock"
	flock -n 9 || echo "overlap $AUTOFIT_PROBE $now" >>"$NOTES/log"
	echo "probe $AUTOFIT_PROBE $now" >>"$NOTES/log"
else
	records=$(find "$AUTOFIT_HOME/records" -name '*.ini' 2>/dev/null | wc -l)
	echo "run $records $now $*" >>"$NOTES/log"
fi
exec "$@"

-- name: raise_epoch
-- Begin a new lease of a stream; all earlier ones are lost.
INSERT INTO leases (stream, epoch, held) VALUES (?, 1, 1)
ON CONFLICT (stream) DO UPDATE SET epoch = epoch + 1, held = 1
RETURNING epoch;

-- name: lease_is_newest
-- Tell whether a lease was neither lost nor released.
SELECT 1 FROM leases WHERE stream = ? AND epoch = ? AND held = 1;

-- name: release_lease
-- End a lease, unless it was lost already.
UPDATE leases SET held = 0 WHERE stream = ? AND epoch = ? AND held = 1;

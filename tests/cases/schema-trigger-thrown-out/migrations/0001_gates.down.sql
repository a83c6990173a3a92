DROP TABLE lock_gates;
DROP FUNCTION refuse_stale_fence();

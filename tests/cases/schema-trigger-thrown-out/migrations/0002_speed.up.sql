CREATE INDEX gates_position ON lock_gates (position);
DROP TRIGGER gates_fence ON lock_gates;

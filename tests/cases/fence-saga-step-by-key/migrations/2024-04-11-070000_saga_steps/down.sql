DROP TABLE saga_steps;

DROP TABLE recipient;

DROP TABLE tiles;

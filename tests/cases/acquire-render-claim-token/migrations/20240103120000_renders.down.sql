DROP TABLE renders;

DROP TABLE meters;

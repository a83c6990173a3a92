DROP TABLE projections;
DROP TABLE writer_leases;

DROP TABLE greenhouses;

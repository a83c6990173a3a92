-- $1 host, $2 backend, $3 weight, $4 fencing token of the switcher
UPDATE routes
   SET backend = $2,
       weight = $3,
       fencing_token = $4
 WHERE host = $1
   AND fencing_token < $4

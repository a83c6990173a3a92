ALTER TABLE contacts ADD COLUMN phone_e164 TEXT;

UPDATE contacts SET phone_e164 = '+49' || substr(phone, 2) WHERE phone LIKE '0%';
UPDATE contacts SET phone_e164 = phone WHERE phone LIKE '+%';

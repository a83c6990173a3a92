CREATE TABLE mutexes (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    lock_name VARCHAR(120) NOT NULL,
    owner CHAR(36) NOT NULL,
    expires_at DATETIME(6) NOT NULL,
    KEY idx_lock_name (lock_name)
) ENGINE=InnoDB;

mod crown;
pub mod leaderboard;

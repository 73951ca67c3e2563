# A tool that works for long: it and a child in a session of its own hold one lock, so that a survivor of either is seen.
use strict;
use Fcntl ':flock';
use POSIX 'setsid';
my ($lock, $started) = @ARGV;
open(my $held, '>>', $lock) or die "$lock: $!";
flock($held, LOCK_EX | LOCK_NB) or die "somebody holds $lock";
if (fork() == 0) { setsid(); open(STDIN, '<', '/dev/null'); open(STDOUT, '>', '/dev/null'); open(STDERR, '>', '/dev/null'); sleep 300; exit; }
open(my $told, '>', $started) or die "$started: $!";
close $told;
sleep 300;

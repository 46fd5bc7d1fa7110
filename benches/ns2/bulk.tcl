# Bulk TCP flows in ns-2.35, for speed comparisons and reference data.
#
# usage: ns bulk.tcl [-key value]...
#   -topology chain      n0 - n1 - n2 - n3 with one flow, or
#             dumbbell   s_i - r1 - r2 - d_i with -flows flows, whose starts are evenly spaced over the first second. With -seed the
#                        start times are random; the seed also applies to ns-2's default generator.
#   -agents A,B,...      agents of the flows, repeated cyclically, instead of -agent
#   -vegas "variable value ..."  settings of Vegas agents
#   -queue DropTail      queue of the bottleneck; -limit applies in the queue's own way, -queue_set "variable value ..." sets more
# Prints a line "flow ..." for each flow and a line "total ...". -cwnd FILE records every change of cwnd and ssthresh.
array set o {
    topology chain  agent Sack1  flows 1  time 250  size 1000  window 1000  iw 1  max_ssthresh 0
    rate 10Mb  delay 10ms  access 100Mb  access_delay 10ms  limit 50
    access_limit 0  loss 0  loss_position after  loss_seed 0  delayed_ack 0  set ""  cwnd ""  quiet 0
    vegas ""  agents ""  seed 0  queue DropTail  queue_set ""  ecn 0
}
foreach {key value} $argv {
    set key [string range $key 1 end]
    if {![info exists o($key)]} { puts stderr "unknown option -$key"; exit 2 }
    set o($key) $value
}
Agent/TCP set window_ $o(window)
Agent/TCP set packetSize_ $o(size)
Agent/TCP set max_ssthresh_ $o(max_ssthresh)
if {$o(iw) == "table"} {
    Agent/TCP set windowInitOption_ 2
} else {
    Agent/TCP set windowInitOption_ 1
    Agent/TCP set windowInit_ $o(iw)
}
Agent/TCP set ecn_ $o(ecn)
foreach {variable value} $o(set) { Agent/TCP set $variable $value }
foreach {variable value} $o(vegas) { Agent/TCP/Vegas set $variable $value }
if {$o(agents) == ""} { set o(agents) $o(agent) }
set agents [split $o(agents) ,]
if {$o(seed)} { $defaultRNG seed $o(seed) }
# FQ creates a queue for each flow, with the limit of the class.
if {$o(queue) == "FQ"} { Queue set limit_ $o(limit) }
set ns [new Simulator]

proc endless {a b} {
    global ns
    $ns queue-limit $a $b 1000000
    $ns queue-limit $b $a 1000000
}

if {$o(topology) == "chain"} {
    foreach i {0 1 2 3} { set n($i) [$ns node] }
    foreach {a b rate delay} [list 0 1 $o(access) $o(access_delay) 1 2 $o(rate) $o(delay) 2 3 $o(access) $o(access_delay)] {
        $ns duplex-link $n($a) $n($b) $rate $delay DropTail
        endless $n($a) $n($b)
    }
    if {$o(access_limit)} { $ns queue-limit $n(0) $n(1) $o(access_limit) }
    set left $n(1); set right $n(2)
    set from(0) $n(0); set to(0) $n(3)
    set o(flows) 1
} else {
    set left [$ns node]; set right [$ns node]
    $ns simplex-link $left $right $o(rate) $o(delay) $o(queue)
    $ns simplex-link $right $left $o(rate) $o(delay) DropTail
    [[$ns link $right $left] queue] set limit_ 1000000
    set queue [[$ns link $left $right] queue]
    switch $o(queue) {
        SFQ { $queue set maxqueue_ $o(limit) }
        DRR { $queue set blimit_ [expr $o(limit) * ($o(size) + 40)]; $queue set buckets_ [expr 2 * $o(flows) + 8] }
        SRR {
            $queue set maxqueuenumber_ [expr $o(flows) + 1]
            for {set i 1} {$i <= $o(flows)} {incr i} { $queue setqueue $i $i; $queue setrate $i 1000 }
        }
        FQ { [$ns link $left $right] set drpT_ [[$ns link $left $right] set drophead_] }
    }
    foreach {variable value} $o(queue_set) { $queue set $variable $value }
    for {set i 0} {$i < $o(flows)} {incr i} {
        set from($i) [$ns node]; set to($i) [$ns node]
        $ns duplex-link $from($i) $left $o(access) $o(access_delay) DropTail
        $ns duplex-link $right $to($i) $o(access) $o(access_delay) DropTail
        endless $from($i) $left
        endless $right $to($i)
    }
}
[[$ns link $left $right] queue] set limit_ $o(limit)
if {$o(seed)} {
    set stream [new RNG]
    $stream seed $o(seed)
    set starts [new RandomVariable/Uniform]
    $starts set min_ 0.0
    $starts set max_ 1.0
    $starts use-rng $stream
}

for {set i 0} {$i < $o(flows)} {incr i} {
    set agent [lindex $agents [expr $i % [llength $agents]]]
    if {$agent == "Tahoe"} { set tcp($i) [new Agent/TCP] } else { set tcp($i) [new Agent/TCP/$agent] }
    set kind Agent/TCPSink
    if {$agent == "Sack1"} { append kind /Sack1 }
    if {$o(delayed_ack)} { append kind /DelAck }
    set sink($i) [new $kind]
    $ns attach-agent $from($i) $tcp($i)
    $ns attach-agent $to($i) $sink($i)
    $ns connect $tcp($i) $sink($i)
    $tcp($i) set fid_ [expr $i + 1]
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
}

set errors ""
if {$o(loss) > 0} {
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $o(loss)
    set stream [new RNG]
    if {$o(loss_seed)} { $stream seed $o(loss_seed) }
    set draw [new RandomVariable/Uniform]
    $draw set min_ 0.0
    $draw set max_ 1.0
    $draw use-rng $stream
    $errors ranvar $draw
    if {$o(loss_position) == "after"} { $ns link-lossmodel $errors $left $right } else { $ns lossmodel $errors $left $right }
}
if {$o(cwnd) != ""} {
    set changes [open $o(cwnd) w]
    $tcp(0) attach $changes
    $tcp(0) trace cwnd_
    $tcp(0) trace ssthresh_
}
if {!$o(quiet)} { set monitor [$ns monitor-queue $left $right ""] }
if {$o(access_limit)} { set access_monitor [$ns monitor-queue $n(0) $n(1) ""] }

for {set i 0} {$i < $o(flows)} {incr i} {
    if {$o(seed)} { set start($i) [$starts value] } else { set start($i) [expr 1.0 * $i / $o(flows)] }
    $ns at $start($i) "$ftp($i) start"
}

proc finish {} {
    global o tcp sink start monitor access_monitor changes
    set acked 0
    for {set i 0} {$i < $o(flows)} {incr i} {
        incr acked [$tcp($i) set ack_]
        if {!$o(quiet)} {
            puts "flow $i start $start($i) bytes [$sink($i) set bytes_] sent [$tcp($i) set ndatapack_] retransmitted [$tcp($i) set nrexmitpack_] timeouts [$tcp($i) set nrexmit_] reductions [$tcp($i) set ncwndcuts_] cwnd [$tcp($i) set cwnd_] ssthresh [$tcp($i) set ssthresh_]"
        }
    }
    set access_drops 0
    if {$o(access_limit)} { set access_drops [$access_monitor set pdrops_] }
    set drops -1
    if {!$o(quiet)} { set drops [$monitor set pdrops_] }
    set status [open /proc/[pid]/status]
    regexp {VmHWM:\s+(\d+)} [read $status] _ kilobytes
    puts "total acked $acked drops $drops access_drops $access_drops peak_kb $kilobytes"
    if {[info exists changes]} { close $changes }
    exit 0
}
$ns at $o(time) finish
# `run` computes the routes, so set-up ends with the first event.
# That event prints the CPU time of the process so far, in nanoseconds.
$ns at 0.0 { puts "ready [lindex [read [open /proc/[pid]/schedstat]] 0]"; flush stdout }
$ns run

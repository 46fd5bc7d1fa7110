# Runs a network in ns-2.35 and prints its counters.
#   ns net.tcl DESCRIPTION PREFIX [trace]
# DESCRIPTION is a script with these commands, in this order:
#   network SEED NODES
#   link FROM TO RATE DELAY QUEUE LIMIT {variable value ...} {variable value ...} {command}
#       the first list applies to the queue's class before the link is created (RED computes its automatic weight then), the second
#       to the queue; the command runs with the queue's name in $queue
#   watch FROM TO                          count arrivals and drops of this link; its drops go to PREFIX.drops
#   random_loss FROM TO RATE after|before SEED    random losses, recorded in PREFIX.losses; SEED 0 is the next stream of the generator
#   flow FROM TO AGENT START SIZE DELAY {variable value ...} {variable value ...}
#       SIZE 0 means unlimited, DELAY 0 means no delayed ACKs; the lists apply to Agent/TCP and to Agent/TCP/Vegas
#   finish TIME
# With `trace`, PREFIX.window.K records the changes of flow K's cwnd and ssthresh, and PREFIX.packets the packets on its end links.

set prefix [lindex $argv 1]
set tracing [llength [lrange $argv 2 end]]
set flows 0

proc network {seed nodes} {
    global ns node defaultRNG
    $defaultRNG seed $seed
    set ns [new Simulator]
    for {set i 0} {$i < $nodes} {incr i} { set node($i) [$ns node] }
}

proc link {from to rate delay kind limit of_class of_queue command} {
    global ns node kinds
    # FQ creates a queue for each flow, with the limit of the class.
    if {$kind == "FQ"} { Queue set limit_ $limit }
    set before {}
    foreach {variable value} $of_class {
        lappend before $variable [Queue/$kind set $variable]
        Queue/$kind set $variable $value
    }
    $ns simplex-link $node($from) $node($to) $rate $delay $kind
    foreach {variable value} $before { Queue/$kind set $variable $value }
    set queue [[$ns link $node($from) $node($to)] queue]
    $queue set limit_ $limit
    foreach {variable value} $of_queue { $queue set $variable $value }
    eval $command
    set kinds($from,$to) $kind
}

proc drop_trace {file from to} {
    global ns node
    set trace [$ns create-trace Drop $file $node($from) $node($to)]
    $trace target [$ns set nullAgent_]
    return $trace
}

proc watch {from to} {
    global ns node kinds prefix drops monitor
    set link [$ns link $node($from) $node($to)]
    set drops [open $prefix.drops w]
    set trace [$ns create-trace Drop $drops $node($from) $node($to)]
    $trace target [$link set drophead_]
    if {$kinds($from,$to) == "FQ"} { $link set drpT_ $trace } else { [$link queue] drop-target $trace }
    set monitor [$ns monitor-queue $node($from) $node($to) ""]
}

proc random_loss {from to rate position seed} {
    global ns node prefix losses
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $rate
    set stream [new RNG]
    if {$seed} { $stream seed $seed }
    set draw [new RandomVariable/Uniform]
    $draw set min_ 0.0
    $draw set max_ 1.0
    $draw use-rng $stream
    $model ranvar $draw
    if {$position == "after"} {
        $ns link-lossmodel $model $node($from) $node($to)
    } else {
        $ns lossmodel $model $node($from) $node($to)
    }
    set losses [open $prefix.losses w]
    $model drop-target [drop_trace $losses $from $to]
}

proc flow {from to agent start size delay of_tcp of_vegas} {
    global ns node flows tcp sink ftp ends
    foreach {variable value} $of_tcp { Agent/TCP set $variable $value }
    foreach {variable value} $of_vegas { Agent/TCP/Vegas set $variable $value }
    set k $flows
    incr flows
    set tcp($k) [expr {$agent == "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$agent]}]
    set kind [expr {$agent == "Sack1" ? "Agent/TCPSink/Sack1" : "Agent/TCPSink"}]
    if {$delay > 0} {
        append kind /DelAck
        $kind set interval_ $delay
    }
    set sink($k) [new $kind]
    $ns attach-agent $node($from) $tcp($k)
    $ns attach-agent $node($to) $sink($k)
    $ns connect $tcp($k) $sink($k)
    $tcp($k) set fid_ [expr {$k + 1}]
    set ftp($k) [new Application/FTP]
    $ftp($k) attach-agent $tcp($k)
    $ns at $start [expr {$size ? "$ftp($k) produce $size" : "$ftp($k) start"}]
    lappend ends $from
}

proc trace_everything {} {
    global ns node flows tcp prefix ends traces
    set packets [open $prefix.packets w]
    lappend traces $packets
    foreach end [lsort -unique $ends] {
        foreach {name link} [$ns array get link_] {
            foreach {a b} [split $name :] break
            if {$a == [$node($end) id] || $b == [$node($end) id]} {
                $ns trace-queue [$ns get-node-by-id $a] [$ns get-node-by-id $b] $packets
            }
        }
    }
    for {set k 0} {$k < $flows} {incr k} {
        set file [open $prefix.window.$k w]
        lappend traces $file
        $tcp($k) attach $file
        $tcp($k) trace cwnd_
        $tcp($k) trace ssthresh_
    }
}

proc finish {time} {
    global ns tracing
    if {$tracing} trace_everything
    $ns at $time report
    $ns run
}

proc report {} {
    global ns flows tcp sink monitor drops losses traces
    $ns flush-trace
    close $drops
    if {[info exists losses]} { close $losses }
    if {[info exists traces]} { foreach file $traces { close $file } }
    for {set k 0} {$k < $flows} {incr k} {
        puts "flow $k [$sink($k) set bytes_] [$tcp($k) set ndatapack_] [$tcp($k) set nrexmitpack_] [$tcp($k) set nrexmit_] [$tcp($k) set ncwndcuts_] [$tcp($k) set cwnd_] [$tcp($k) set ssthresh_]"
    }
    puts "link [$monitor set parrivals_] [$monitor set pdrops_]"
    # The order in which `run` resets the nodes' agents; each agent then draws the phase of its clock.
    puts "order [$ns array names Node_]"
    exit 0
}

source [lindex $argv 0]

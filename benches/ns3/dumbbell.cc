// Bulk TCP flows over a dumbbell in ns-3, for comparisons of speed: the network and the flows of benches/ns2/bulk.tcl.
//
// usage: dumbbell --key=value...   (see the options below; with one flow, the network is the chain s - r1 - r2 - d)
//
// NewReno with SACK, without timestamps and delayed ACKs, from a window of one segment; drop-tail queues in the devices,
// no queues above them; routes by nix vectors, which do not search tables. Prints the CPU time of the set-up, and the
// packets that arrived with the process's peak memory.

#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

// The access links drop nothing.
const std::string ENDLESS = "1000000p";
const std::uint16_t PORT = 5000;

PointToPointHelper link(const std::string& rate, const std::string& delay) {
    PointToPointHelper made;
    made.SetDeviceAttribute("DataRate", StringValue(rate));
    made.SetChannelAttribute("Delay", StringValue(delay));
    made.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(ENDLESS));
    return made;
}

double cpuSeconds() {
    timespec spent{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return spent.tv_sec + spent.tv_nsec / 1e9;
}

std::string peakKilobytes() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word && word != "VmHWM:") {
    }
    status >> word;
    return word;
}

}  // namespace

int main(int argc, char* argv[]) {
    std::string rate = "100Mbps", delay = "10ms", access = "1Gbps", accessDelay = "5ms";
    std::uint32_t flows = 1, limit = 480, size = 1000, window = 20000;
    double time = 400;
    CommandLine options;
    options.AddValue("rate", "rate of the bottleneck", rate);
    options.AddValue("delay", "its delay", delay);
    options.AddValue("access", "rate of the access links", access);
    options.AddValue("access_delay", "their delay", accessDelay);
    options.AddValue("limit", "packets that wait at the bottleneck", limit);
    options.AddValue("flows", "number of flows; their starts are evenly spaced over the first second", flows);
    options.AddValue("size", "bytes of data in a packet", size);
    options.AddValue("window", "the receivers' window in packets", window);
    options.AddValue("time", "simulated seconds", time);
    options.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(size));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * size));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * size));

    NodeContainer routers(2), senders(flows), receivers(flows);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(NodeContainer(routers, senders, receivers));

    PointToPointHelper middle = link(rate, delay), outer = link(access, accessDelay);
    NetDeviceContainer bottleneck = middle.Install(routers);
    bottleneck.Get(0)->GetObject<PointToPointNetDevice>()->GetQueue()->SetMaxSize(QueueSize(std::to_string(limit) + "p"));

    // Queues above the devices would be FQ-CoDel.
    TrafficControlHelper control;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto assign = [&](const NetDeviceContainer& devices) {
        Ipv4InterfaceContainer made = addresses.Assign(devices);
        control.Uninstall(devices);
        addresses.NewNetwork();
        return made.GetAddress(1);
    };
    assign(bottleneck);

    ApplicationContainer sinks;
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
        assign(outer.Install(senders.Get(flow), routers.Get(0)));
        InetSocketAddress target(assign(outer.Install(routers.Get(1), receivers.Get(flow))), PORT);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", target).Install(receivers.Get(flow)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", target);
        bulk.SetAttribute("SendSize", UintegerValue(size));
        bulk.Install(senders.Get(flow)).Start(Seconds(double(flow) / flows));
    }

    Simulator::ScheduleNow([] { std::cout << "ready " << cpuSeconds() << std::endl; });
    Simulator::Stop(Seconds(time));
    Simulator::Run();
    std::uint64_t bytes = 0;
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
        bytes += sinks.Get(flow)->GetObject<PacketSink>()->GetTotalRx();
    }
    std::cout << "total packets " << bytes / size << " peak_kb " << peakKilobytes() << std::endl;
    Simulator::Destroy();
    return 0;
}

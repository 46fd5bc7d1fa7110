//! The key `application` of a flow: checking, reading and writing it.

use std::path::Path;
use std::sync::Arc;

use ackclock_core::distribution::Distribution;
use ackclock_core::units::{Bytes, Duration, Rate};
use serde_json::{Value as Json, json};

use crate::scenario::application::{
    Abr, ApplicationKind, ClientSpec, Content, DATAGRAM_HEADER, FramesSpec, Object, OnOff, PlayerSpec, Stream,
};
use crate::scenario::check::{Checked, Record};
use crate::scenario::error::Problems;
use crate::scenario::file::REFUSED;
use crate::scenario::flow_keys::profile_name;
use crate::scenario::part::CONTROL_AXES;
use crate::scenario::profiles::Need;
use crate::scenario::spec::keys_of;
use crate::scenario::unit::{Quantity, write_rate, write_time};
use crate::scenario::{drawn, har};

/// Checks constraints between the keys of a flow with an application.
pub(super) fn check_application(flow: &Record, application: &Record, problems: &mut Problems) {
    if application.kind == "bulk" {
        return;
    }
    let mut refuse = |table: &Record, name: &str, message: String| problems.add(&table.field(name).origin, table.key(name), message);
    for key in ["size", "arrivals"].into_iter().filter(|key| flow.field(key).given) {
        refuse(flow, key, format!("applies to bulk transfers only, but the application is {}", application.kind));
    }
    let given = |name: &str| application.field(name).given;
    if let Some(complaint) = Need::of_kind(application.kind).and_then(|need| need.complaint(profile_name(flow))) {
        return refuse(flow, "application", complaint);
    }
    match application.kind {
        "request-response" if !application.flag("persistent") && !given("exchanges") => {
            refuse(
                application,
                "exchanges",
                "is missing: without persistent connections each exchange opens one, so their number must be known".to_owned(),
            );
        }
        "cbr" => {
            let tcp = ["profile", "host", "modern", "ecn", "initial_ssthresh", "congestion_control"];
            for key in tcp.into_iter().chain(keys_of("ns2")).chain(CONTROL_AXES).filter(|key| flow.field(key).given) {
                refuse(flow, key, "applies to TCP only, but the application sends datagrams".to_owned());
            }
            if given("on") != given("off") {
                let missing = if given("on") { "off" } else { "on" };
                refuse(application, missing, "is missing: on and off must be given together".to_owned());
            }
        }
        "web" => {
            if application.flag("multiplexed") {
                if let Some(complaint) = Need::STREAMS.complaint(profile_name(flow)) {
                    refuse(application, "multiplexed", complaint);
                }
                for key in ["connections", "persistent"].into_iter().filter(|key| given(key)) {
                    refuse(
                        application,
                        key,
                        "cannot be combined with multiplexed, which has one persistent connection to each host".to_owned(),
                    );
                }
            }
            check_page(application, problems);
        }
        "player" => check_player(application, problems),
        "frames" => {
            let [least, most] = ["min_rate", "max_rate"].map(|name| application.whole(name));
            let first = application.whole("rate");
            if least > most {
                refuse(application, "max_rate", "must be at least min_rate".to_owned());
            } else if first.is_some() && (first < least || first > most) {
                refuse(application, "rate", "must be from min_rate to max_rate".to_owned());
            }
        }
        _ => {}
    }
    let sizes: &[&str] = match application.kind {
        "on-off" => &["burst"],
        "request-response" => &["response"],
        "web" => &["root", "object"],
        _ => &[],
    };
    for sizes in sizes.iter().filter_map(|name| application.table(name)) {
        drawn::check_sizes(sizes, problems);
    }
}

/// Checks that the bitrates of a player rise, and that its buffer holds a segment.
fn check_player(application: &Record, problems: &mut Problems) {
    let mut refuse = |name: &str, message: &str| problems.add(&application.field(name).origin, application.key(name), message.to_owned());
    let rates: Vec<u64> = bitrates(application).collect();
    if application.field("bitrates").given && rates.is_empty() {
        refuse("bitrates", "at least one bitrate is needed");
    } else if rates.windows(2).any(|pair| pair[0] >= pair[1]) {
        refuse("bitrates", "must be in rising order");
    }
    if application.whole("buffer").is_some_and(|buffer| Some(buffer) < application.whole("segment")) {
        refuse("buffer", "must hold a segment, but is shorter than segment");
    }
}

/// The bitrates of a player, in bit/s.
fn bitrates(application: &Record) -> impl Iterator<Item = u64> {
    application.list("bitrates").iter().filter_map(|item| match item.value {
        Checked::Quantity(Quantity::Whole(_, rate)) => Some(rate),
        _ => None,
    })
}

/// Checks that exactly one key describes a page: `root`, `contents` or `har`.
fn check_page(application: &Record, problems: &mut Problems) {
    let given = |name: &str| application.field(name).given;
    let wrong = ["root", "contents", "har"].iter().any(|way| problems.about_any(&application.key(way)));
    let mut refuse = |name: &str, message: String| problems.add(&application.field(name).origin, application.key(name), message);
    let ways: Vec<&str> = ["root", "contents", "har"].into_iter().filter(|way| given(way)).collect();
    match ways[..] {
        // The problem has been reported.
        [] if wrong => {}
        [] => refuse("root", "is missing: give root = \"30 kB\", or the page's contents, or a har file".to_owned()),
        ["root"] if given("object") && !given("objects") => {
            refuse("objects", "is missing: give the number of objects besides the root".to_owned());
        }
        ["root"] if !given("object") && application.integer("objects") > Some(0) => {
            refuse("object", "is missing: give the size of the objects".to_owned());
        }
        ["root"] => {}
        [way] => {
            for key in ["objects", "object", "request", "hosts"].into_iter().filter(|key| given(key) && (*key != "request" || way != "har"))
            {
                refuse(key, format!("cannot be combined with {way}, which defines it"));
            }
        }
        [first, second, ..] => refuse(second, format!("cannot be combined with {first}, which already describes the page")),
    }
}

/// The application described by checked keys. `packet` is the data in a packet, `folder` the folder of the files that it
/// names, if it may name any.
pub(super) fn read(application: &Record, packet: Bytes, folder: Option<&Path>, problems: &mut Problems) -> Option<ApplicationKind> {
    let sizes = |name| drawn::sizes(application.table(name)?, packet.0);
    let times = |name| drawn::times(application.table(name)?);
    let whole = |name| application.whole(name).unwrap_or(1);
    let client = |pages: Option<u64>, content, connections, parse| ClientSpec {
        pages: pages.map(|pages| pages as u32),
        content,
        connections,
        persistent: application.flag("persistent"),
        multiplexed: false,
        parse,
        server_delay: application.time("server_delay"),
        think: times("think").unwrap_or(Distribution::Fixed { mean: 0.0 }),
    };
    Some(match application.kind {
        "on-off" => ApplicationKind::OnOff(OnOff { burst: sizes("burst")?, pause: times("pause")?, packet }),
        "cbr" => ApplicationKind::Datagrams(Stream {
            rate: Rate::from_bits_per_sec(whole("rate"))?,
            size: Bytes(packet.0 + DATAGRAM_HEADER.0),
            periods: times("on").zip(times("off")).map(|(on, off)| [on, off]),
        }),
        "request-response" => {
            let (root, object) = (sizes("response")?, Distribution::Fixed { mean: 1.0 });
            let content = Content::Drawn { root, objects: 0, object, request: whole("request"), hosts: 1 };
            ApplicationKind::Client(client(application.integer("exchanges"), content, 1, Duration::ZERO))
        }
        "web" => {
            let content = page(application, sizes, folder, problems)?;
            let multiplexed = application.flag("multiplexed");
            let connections = if multiplexed { 1 } else { application.integer("connections").unwrap_or(1) as u32 };
            let client = client(application.integer("pages"), content, connections, application.time("parse"));
            ApplicationKind::Client(ClientSpec { multiplexed, ..client })
        }
        "frames" => {
            let rate = |name| Rate::from_bits_per_sec(whole(name));
            let number = |name| application.number(name).unwrap_or(1.0);
            let min_rate = rate("min_rate")?;
            ApplicationKind::Frames(FramesSpec {
                fps: number("fps"),
                min_rate,
                rate: application.whole("rate").and_then(Rate::from_bits_per_sec).unwrap_or(min_rate),
                max_rate: rate("max_rate")?,
                key_interval: application.integer("key_interval").unwrap_or(1) as u32,
                key_factor: number("key_factor"),
                variation: number("variation"),
                reaction: application.time("reaction"),
                backlog: application.time("backlog"),
                decrease: number("decrease"),
                increase: number("increase"),
                deadline: application.time("deadline"),
                packet,
            })
        }
        "player" => {
            let segment = application.time("segment");
            let span = |name, otherwise| application.whole(name).map_or(otherwise, Duration::from_nanos);
            let abr = application.table("abr")?;
            let number = |name| abr.number(name).unwrap_or(0.0);
            ApplicationKind::Player(PlayerSpec {
                segment,
                bitrates: bitrates(application).filter_map(Rate::from_bits_per_sec).collect(),
                segments: application.integer("segments").map(|segments| segments as u32),
                start: span("start", segment),
                buffer: span("buffer", segment * 10.0),
                abr: if abr.kind == "buffer" {
                    Abr::Buffer { reservoir: number("reservoir"), cushion: number("cushion") }
                } else {
                    Abr::Throughput { samples: abr.integer("samples").unwrap_or(1) as u32, safety: number("safety") }
                },
                request: whole("request"),
                server_delay: application.time("server_delay"),
            })
        }
        _ => return None,
    })
}

/// The content of a page.
fn page(
    application: &Record,
    sizes: impl Fn(&'static str) -> Option<Distribution>,
    folder: Option<&Path>,
    problems: &mut Problems,
) -> Option<Content> {
    if let Some(file) = application.text("har") {
        let refused = format!("{REFUSED}; list the objects of the page as contents");
        let read = folder.ok_or(refused).and_then(|folder| har::read(&folder.join(file), application.whole("request").unwrap_or(1)));
        let report = |message| problems.add(&application.field("har").origin, application.key("har"), message);
        return read.map_err(report).ok().map(|objects| Content::Listed(objects.into()));
    }
    if application.field("contents").given {
        let number = |object: &Record, key| object.whole(key).unwrap_or(1);
        let object = |object: &Record| Object {
            host: object.integer("host").unwrap_or(0) as u32,
            request: number(object, "request"),
            response: number(object, "response"),
        };
        return Some(Content::Listed(application.tables("contents").map(object).collect::<Arc<[_]>>()));
    }
    Some(Content::Drawn {
        root: sizes("root")?,
        objects: application.integer("objects").unwrap_or(0) as u32,
        object: sizes("object").unwrap_or(Distribution::Fixed { mean: 1.0 }),
        request: application.whole("request").unwrap_or(1),
        hosts: application.integer("hosts").unwrap_or(1) as u32,
    })
}

/// An application in the form of a scenario file, from which an equal application can be read.
pub(super) fn write(kind: &ApplicationKind) -> Json {
    match kind {
        ApplicationKind::OnOff(OnOff { burst, pause, packet: _ }) => {
            json!({ "kind": "on-off", "burst": drawn::write_sizes(burst), "pause": drawn::write_times(pause) })
        }
        ApplicationKind::Datagrams(Stream { rate, size: _, periods }) => {
            let mut json = json!({ "kind": "cbr", "rate": write_rate(*rate) });
            if let Some([on, off]) = periods {
                json["on"] = drawn::write_times(on);
                json["off"] = drawn::write_times(off);
            }
            json
        }
        ApplicationKind::Client(client) => write_client(client),
        ApplicationKind::Frames(frames) => write_frames(frames),
        ApplicationKind::Player(player) => write_player(player),
    }
}

fn write_frames(frames: &FramesSpec) -> Json {
    json!({
        "kind": "frames",
        "fps": frames.fps,
        "min_rate": write_rate(frames.min_rate),
        "rate": write_rate(frames.rate),
        "max_rate": write_rate(frames.max_rate),
        "key_interval": frames.key_interval,
        "key_factor": frames.key_factor,
        "variation": frames.variation,
        "reaction": write_time(frames.reaction),
        "backlog": write_time(frames.backlog),
        "decrease": frames.decrease,
        "increase": frames.increase,
        "deadline": write_time(frames.deadline),
    })
}

fn write_player(player: &PlayerSpec) -> Json {
    let mut json = json!({
        "kind": "player",
        "segment": write_time(player.segment),
        "bitrates": player.bitrates.iter().map(|rate| write_rate(*rate)).collect::<Vec<_>>(),
        "start": write_time(player.start),
        "buffer": write_time(player.buffer),
        "abr": match player.abr {
            Abr::Throughput { samples, safety } => json!({ "kind": "throughput", "samples": samples, "safety": safety }),
            Abr::Buffer { reservoir, cushion } => json!({ "kind": "buffer", "reservoir": reservoir, "cushion": cushion }),
        },
        "request": format!("{} B", player.request),
        "server_delay": write_time(player.server_delay),
    });
    if let Some(segments) = player.segments {
        json["segments"] = json!(segments);
    }
    json
}

fn write_client(client: &ClientSpec) -> Json {
    let mut json = json!({ "kind": "web", "think": drawn::write_times(&client.think) });
    // One of the two ways to use connections.
    if client.multiplexed {
        json["multiplexed"] = json!(true);
    } else {
        json["connections"] = json!(client.connections);
        json["persistent"] = json!(client.persistent);
    }
    json["parse"] = json!(write_time(client.parse));
    json["server_delay"] = json!(write_time(client.server_delay));
    match (&client.content, client.pages) {
        // Only this kind can continue until the end of the run.
        (Content::Drawn { root, request, .. }, None) => {
            return json!({
                "kind": "request-response",
                "response": drawn::write_sizes(root),
                "request": format!("{request} B"),
                "think": json["think"],
                "server_delay": json["server_delay"],
                "persistent": client.persistent,
            });
        }
        (Content::Drawn { root, objects, object, request, hosts }, _) => {
            json["root"] = drawn::write_sizes(root);
            if *objects > 0 {
                json["objects"] = json!(objects);
                json["object"] = drawn::write_sizes(object);
            }
            json["request"] = json!(format!("{request} B"));
            json["hosts"] = json!(hosts);
        }
        (Content::Listed(objects), _) => {
            let write = |object: &Object| json!({ "response": format!("{} B", object.response), "request": format!("{} B", object.request), "host": object.host });
            json["contents"] = objects.iter().map(write).collect();
        }
    }
    if let Some(pages) = client.pages {
        json["pages"] = json!(pages);
    }
    json
}

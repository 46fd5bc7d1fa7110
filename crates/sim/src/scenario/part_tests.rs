use crate::scenario::{Document, registry_json, relations_json, schema};

/// The problems of a scenario; empty for a sound one.
fn errors(text: &str) -> String {
    let result = Document::from_toml(text, "t.toml").and_then(|document| document.scenario());
    result.map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn every_axis_has_a_key_of_its_own() {
    let mut keys: Vec<&str> = super::axes().map(|axis| axis.name).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
}

#[test]
fn the_relations_are_those_of_the_checks() {
    let relations = relations_json();
    for (axis, relation) in relations["axes"].as_object().unwrap() {
        let parts = &registry_json()[axis];
        let known = |name: &serde_json::Value| parts.as_array().unwrap().iter().find(|part| part["name"] == *name).cloned();
        assert!(known(&relation["usual"]).is_some(), "{axis}");
        if let Some(short) = relation["shorthand"].as_object() {
            let part = known(&short["part"]).unwrap();
            assert!(part["params"].as_array().unwrap().iter().any(|param| param["name"] == short["parameter"]), "{axis}");
        }
    }
    let flow = schema()["properties"]["flow"]["oneOf"][1]["properties"].clone();
    for (profile, other) in [("ns2", "modern"), ("modern", "ns2")] {
        for key in relations["profiles"][profile].as_array().unwrap() {
            let key = key.as_str().unwrap();
            let value = match &flow[key] {
                key if key["oneOf"][0]["enum"].is_array() => key["oneOf"][0]["enum"][0].to_string(),
                key if key["type"] == "object" => "{}".to_owned(),
                key => key["default"].to_string(),
            };
            let wrong = format!("duration = \"1 s\"\n[flow]\nprofile = \"{other}\"\n{key} = {value}");
            let right = wrong.replace(&format!("\"{other}\"\n"), &format!("\"{profile}\"\n"));
            let message = errors(&wrong);
            assert!(message.contains(&format!("{key}: requires profile")), "{message}");
            assert_eq!(errors(&right), "", "{right}");
        }
    }
    for axis in relations["replaced"].as_array().unwrap() {
        let axis = axis.as_str().unwrap();
        let usual = relations["axes"][axis]["usual"].as_str().unwrap();
        let text = format!("duration = \"1 s\"\n[flow]\ncongestion_control = \"bbr\"\n{axis} = \"{usual}\"");
        assert!(errors(&text).contains("congestion_control, which replaces it"), "{text}");
    }
    for key in relations["listed"].as_array().unwrap() {
        let key = key.as_str().unwrap();
        let text = format!("duration = \"1 s\"\nflow = {{}}\n[topology]\nlinks = [{{}}]\n{key} = {{}}");
        assert!(errors(&text).contains("cannot be combined with links"), "{text}");
    }
}

// Difference quotients, TVM's escalation and comparison rules in Rust, with an adapter for the oracle.
//
//     rustc -O -o checker docs/examples/checker.rs
//     python -m gradcheck_ref oracle test -- ./checker
//
// No crate is needed: a request is one line of JSON whose reals are strings.
use std::io::{stdin, stdout, BufRead, Write};

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;
type Reply = Result<String, (&'static str, &'static str)>; // else: refused, or a problem; and why

enum Json { Text(String), List(Vec<Json>), Object(Vec<(String, Json)>), Other }
use Json::*;

fn parse(c: &mut Chars) -> Json {
    match c.find(|x| !", :".contains(*x)) {
        Some('"') => Text(c.take_while(|x| *x != '"').collect()),
        Some('[') => {
            let mut list = vec![];
            while !ends(c, ']') { list.push(parse(c)) }
            List(list)
        }
        Some('{') => {
            let mut keys = vec![];
            while !ends(c, '}') { if let Text(key) = parse(c) { keys.push((key, parse(c))) } }
            Object(keys)
        }
        _ => { while c.next_if(|x| !",]}".contains(*x)).is_some() {} Other }
    }
}

fn ends(c: &mut Chars, mark: char) -> bool {
    while c.next_if(|x| ", ".contains(*x)).is_some() {}
    c.next_if_eq(&mark).is_some() || c.peek().is_none()
}

impl Json {
    fn at(&self, key: &str) -> &Json {
        let Object(keys) = self else { return &Other };
        keys.iter().find(|(k, _)| k == key).map_or(&Other, |(_, value)| value)
    }
    fn text(&self) -> &str { if let Text(text) = self { text } else { "" } }
    fn real(&self) -> f64 { self.text().parse().unwrap_or(0.0) } // a floor that is left out is 0
    fn list(&self) -> &[Json] { if let List(list) = self { list } else { &[] } }
    fn flat(&self) -> Vec<f64> {
        if let List(list) = self { list.iter().flat_map(Json::flat).collect() } else { vec![self.real()] }
    }
    /// Write it again with other reals, taken from the front.
    fn like(&self, reals: &mut impl Iterator<Item = f64>) -> String {
        let List(list) = self else { return format!("\"{:?}\"", reals.next().unwrap()) };
        format!("[{}]", list.iter().map(|v| v.like(reals)).collect::<Vec<_>>().join(", "))
    }
}

// --- difference quotients ---
struct Samples { places: Vec<f64>, values: Vec<Vec<f64>>, weights: Vec<f64>, unit: f64, taken: bool }

impl Samples {
    /// Read them, `unit` apart; the formula divides by the distances of `pairs`.
    fn read(q: &Json, unit: f64, pairs: &[(usize, usize)]) -> Result<Samples, (&'static str, &'static str)> {
        let list = q.at("samples").list();
        let s = Samples {
            places: list.iter().map(|s| s.list()[0].real()).collect(),
            values: list.iter().map(|s| s.list()[1].flat()).collect(),
            weights: if let Other = q.at("upstream") { vec![1.0] } else { q.at("upstream").flat() },
            unit,
            taken: q.at("step").text() == "taken",
        };
        let usable = |&(low, high)| { // two places that are numbers, and not the same one
            let (a, b): (f64, f64) = (s.places[low], s.places[high]);
            a.is_finite() && b.is_finite() && a != b
        };
        let (x, h) = (q.at("x").real(), q.at("h").real());
        let sound = x.is_finite() && h > 0.0 && h.is_finite() && pairs.iter().all(usable);
        if s.taken && !sound { Err(("refused", "x or h is no number, or h is out of range")) } else { Ok(s) }
    }
    fn slope(&self, low: usize, high: usize) -> f64 {
        let rise: f64 = self.weights.iter().enumerate()
            .map(|(k, w)| w * (self.values[high][k] - self.values[low][k])).sum();
        let run = self.places[high] - self.places[low];
        rise / if self.taken { run } else { (high - low) as f64 * self.unit }
    }
}

fn five_point(near: f64, far: f64) -> f64 { near + (near - far) / 3.0 }

fn stencil(q: &Json) -> Reply {
    let pairs: &[(usize, usize)] = match q.at("formula").text() {
        "forward" => &[(2, 3)],
        "central" => &[(1, 3)],
        "five-point" => &[(1, 3), (0, 4)],
        _ => return Err(("problem", "unknown formula")),
    };
    let s = Samples::read(q, q.at("h").real(), pairs)?;
    let slopes: Vec<f64> = pairs.iter().map(|&(low, high)| s.slope(low, high)).collect();
    let slope = if slopes.len() == 1 { slopes[0] } else { five_point(slopes[0], slopes[1]) };
    Ok(format!("\"slope\": \"{slope:?}\""))
}

fn escalate(q: &Json) -> Reply {
    let (claimed, rtol, atol) = (q.at("claimed").real(), q.at("rtol").real(), q.at("atol").real());
    let s = Samples::read(q, q.at("h").real() / 2.0, &[(2, 4), (0, 4), (1, 3)])?;
    if s.taken && !(sound(rtol) && sound(atol)) { return Err(("refused", "a tolerance")) }
    let agrees = |slope: f64| slope.is_finite() && (slope - claimed).abs() < atol + rtol * slope.abs();
    let (mut slope, mut order) = (s.slope(2, 4), 1);
    if !agrees(slope) { (slope, order) = (s.slope(0, 4), 2) }
    if !agrees(slope) { (slope, order) = (five_point(s.slope(1, 3), slope), 4) }
    Ok(format!("\"order\": {order}, \"slope\": \"{slope:?}\""))
}

fn sound(tolerance: f64) -> bool { tolerance >= 0.0 && tolerance.is_finite() }

// --- rules ---
fn larger(a: f64, b: f64) -> f64 { if a > b || a.is_nan() { a } else { b } }

fn compare(q: &Json) -> Reply {
    let (a, n, rule) = (q.at("analytic").flat(), q.at("numeric").flat(), q.at("rule").text());
    let (rtol, atol, floor) = (q.at("rtol").real(), q.at("atol").real(), q.at("floor").real());
    let shape = |side: &str, count| q.at(side).like(&mut std::iter::repeat(0.0).take(count));
    if shape("analytic", a.len()) != shape("numeric", n.len()) { return Err(("refused", "shapes")) }
    if rule == "reference" && !(sound(rtol) && sound(atol)) { return Err(("refused", "a tolerance")) }
    let size = a.len() as f64;
    match rule {
        "warp" | "tvm" | "cs231n-max" | "cs231n-sum" | "cs231n-unguarded" | "ceres" if a.is_empty() =>
            return Err(("refused", "there is nothing to compare")),
        "reference" | "numpy" | "torch" | "warp" | "tvm" | "cs231n-max" | "cs231n-sum"
            | "cs231n-unguarded" | "jax" | "hips" | "scipy" | "ceres" => (),
        _ => return Err(("problem", "unknown rule")),
    }
    let entries = || a.iter().copied().zip(n.iter().copied());
    let length = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    if rule == "tvm" || rule == "scipy" {
        let (error, norm) = (length(&mut entries().map(|(x, y)| x - y)), length(&mut n.iter().copied()));
        if rule == "scipy" { return Ok(format!("\"close\": {}, \"error\": \"{error:?}\"", error <= atol)) }
        if !(error + norm).is_finite() { return Err(("refused", "a norm is not finite")) }
        let differ = entries().filter(|(x, y)| !((x - y).abs() < atol + rtol * y.abs())).count();
        let (close, percent) = (error <= atol * size.sqrt() + rtol * norm, 100.0 * differ as f64 / size);
        return Ok(format!("\"close\": {close}, \"error\": \"{error:?}\", \"percent\": \"{percent:?}\""));
    }
    let measured = |(x, y): (f64, f64)| {
        let e = (x - y).abs();
        match rule {
            "cs231n-max" => { let s = larger(larger(x.abs(), y.abs()), floor); if s == 0.0 { 0.0 } else { e / s } }
            "cs231n-sum" | "cs231n-unguarded" => e / larger(x.abs() + y.abs(), floor),
            "ceres" if x != 0.0 && y != 0.0 => e / larger(x.abs(), y.abs()),
            _ => e,
        }
    };
    let some = rule != "reference" || !a.is_empty(); // who compares nothing has not seen it right
    let close = some && entries().all(|(x, y)| {
        let (e, allowed) = (measured((x, y)), atol + rtol * y.abs());
        match rule {
            "reference" => e.is_finite() && e <= allowed,
            "torch" => x == y || e.is_finite() && e <= allowed,
            "numpy" | "warp" => x == y || y.is_finite() && e <= allowed,
            "jax" => x == y || x.is_nan() && y.is_nan()
                || x.is_finite() && y.is_finite() && e <= size * atol + size * rtol * y.abs(),
            "hips" => e < atol || e / (x + y).abs() < rtol,
            "ceres" => e < rtol,
            _ => e <= rtol,
        }
    });
    let mut told = format!("\"close\": {close}, \"error\": {}", q.at("analytic").like(&mut entries().map(measured)));
    if rule == "warp" {
        let mut relative = entries().map(|(x, y)| ((x - y) / (y + 1e-8)).abs());
        told += &format!(", \"relative\": {}", q.at("analytic").like(&mut relative));
    }
    Ok(told)
}

fn main() {
    for line in stdin().lock().lines().map_while(Result::ok) {
        let q = parse(&mut line.chars().peekable());
        let reply = match q.at("ask").text() {
            "hello" => Ok(r#""protocol": 1, "name": "checker.rs", "answers": ["stencil", "compare", "escalate"]"#.into()),
            "stencil" => stencil(&q),
            "compare" => compare(&q),
            "escalate" => escalate(&q),
            _ => Err(("problem", "unknown question")),
        };
        let told = reply.unwrap_or_else(|(key, why)| format!("\"{key}\": \"{why}\""));
        println!("{{\"id\": \"{}\", {told}}}", q.at("id").text());
        stdout().flush().unwrap(); // the runner waits for this line
    }
}

-- SPDX-License-Identifier: MIT
--
-- unskew.lua - what each packet's stamp is on the reference's clock, in Wireshark and tshark
--
-- In    clocks.json of `unskew sync`; its messages.csv (--messages), if one-way delays are wanted
-- Out   fields of each packet, to show as columns and to filter by: unskew.time, unskew.error,
--       unskew.delay and more
-- Why   the capture stays as it was recorded: nothing is re-timed but what is shown
-- Not   re-timing files (unskew apply); what no clock's table says: those packets have no fields
--
-- A capture as recorded has one clock, which the preference "clock" names. A file that
-- `unskew sync --merge` wrote names the clock of each packet by its interface. Where stamps were moved,
-- the end of the interface's description says so, with the clock's first knot, by which the answer is
-- known again. The recorded stamp is then in the packet's comment, or follows from the corrected one.
--
-- Numbers in Lua may be doubles: a time is two, whole seconds and ns from there. Differences of
-- times are exact up to 104 days, and results are within 1 ns of what `unskew convert` says.

local unskew = Proto("unskew", "Time on the reference's clock (unskew)")

local shown = {
	clock = ProtoField.string("unskew.clock", "Clock"),
	time = ProtoField.absolute_time("unskew.time", "Time on the reference's clock", base.UTC),
	error = ProtoField.relative_time("unskew.error", "Error bound (±)"),
	earliest = ProtoField.absolute_time("unskew.earliest", "Earliest", base.UTC),
	latest = ProtoField.absolute_time("unskew.latest", "Latest", base.UTC),
	peer = ProtoField.string("unskew.peer", "Other end"),
	delay = ProtoField.relative_time("unskew.delay", "One-way delay"),
	delay_least = ProtoField.relative_time("unskew.delay.least", "One-way delay, at least"),
	delay_most = ProtoField.relative_time("unskew.delay.most", "One-way delay, at most"),
	wrong = ProtoField.string("unskew.wrong", "Not shown"),
}
local list = {}
for _, field in pairs(shown) do
	list[#list + 1] = field
end
unskew.fields = list

unskew.prefs.clocks = Pref.string("Clocks", "", "clocks.json, as `unskew sync -o` wrote it")
unskew.prefs.clock = Pref.string("Clock", "", "the clock of this capture, unless it is a merged one")
unskew.prefs.messages = Pref.string("Messages", "",
	"messages.csv, as `unskew sync --messages` wrote it: for one-way delays")

local epoch_time = Field.new("frame.time_epoch")
local interface_name = Field.new("frame.interface_name")
local interface_description = Field.new("frame.interface_description")
local comments = Field.new("frame.comment")

---- times ---------------------------------------------------------------------------------------

local BILLION = 1000000000

local function normal(s, ns)
	local over = math.floor(ns / BILLION)
	return { s = s + over, ns = ns - over * BILLION }
end

-- Of a whole number of ns, written in digits.
local function of_digits(text)
	local sign, digits = text:match("^(%-?)(%d+)$")
	if not digits then
		return nil
	end
	local s, ns = tonumber(digits:sub(1, -10)) or 0, tonumber(digits:sub(-9))
	return sign == "-" and normal(-s, -ns) or normal(s, ns)
end

-- Of seconds: "-1700000000.123456789".
local function of_seconds(text)
	local sign, whole, fraction = text:match("^([%+%-]?)(%d+)%.?(%d*)$")
	if not whole then
		return nil
	end
	local s, ns = tonumber(whole), tonumber((fraction .. "000000000"):sub(1, 9))
	return sign == "-" and normal(-s, -ns) or normal(s, ns)
end

local function plus(a, b)
	return normal(a.s + b.s, a.ns + b.ns)
end

local function plus_ns(a, ns)
	return normal(a.s, a.ns + ns)
end

-- a - b in ns.
local function less(a, b)
	return (a.s - b.s) * BILLION + (a.ns - b.ns)
end

local function key_of(t)
	return string.format("%.0f.%09.0f", t.s, t.ns)
end

local function nstime(t)
	-- Both of one sign, as Wireshark has them.
	if t.s < 0 and t.ns > 0 then
		return NSTime.new(t.s + 1, t.ns - BILLION)
	end
	return NSTime.new(t.s, t.ns)
end

---- clocks.json ---------------------------------------------------------------------------------

-- The values that clocks.json has: no more of JSON than that.
local function parse_json(text)
	local at = 1
	local value

	local function blank()
		at = text:find("[^ \t\r\n]", at) or #text + 1
		return text:sub(at, at)
	end

	local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

	local function utf8_of(code)
		if code < 0x80 then
			return string.char(code)
		elseif code < 0x800 then
			return string.char(0xc0 + math.floor(code / 64), 0x80 + code % 64)
		end
		return string.char(0xe0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64,
			0x80 + code % 64)
	end

	local function str()
		local out, from = {}, at + 1
		while true do
			local stop = text:find('["\\]', from)
			if not stop then
				error("a string does not end")
			end
			out[#out + 1] = text:sub(from, stop - 1)
			if text:sub(stop, stop) == '"' then
				at = stop + 1
				return table.concat(out)
			end
			local c = text:sub(stop + 1, stop + 1)
			from = stop + 2
			if c == "u" then
				out[#out + 1] = utf8_of(tonumber(text:sub(from, from + 3), 16) or 0x3f)
				from = from + 4
			else
				out[#out + 1] = escapes[c] or c
			end
		end
	end

	local function many(close, element)
		local out = {}
		at = at + 1
		if blank() == close then
			at = at + 1
			return out
		end
		while true do
			element(out)
			local c = blank()
			at = at + 1
			if c == close then
				return out
			elseif c ~= "," then
				error("',' or '" .. close .. "' is missing at byte " .. at)
			end
		end
	end

	function value()
		local c = blank()
		if c == "{" then
			return many("}", function(out)
				blank()
				local key = str()
				if blank() ~= ":" then
					error("':' is missing at byte " .. at)
				end
				at = at + 1
				out[key] = value()
			end)
		elseif c == "[" then
			return many("]", function(out)
				out[#out + 1] = value()
			end)
		elseif c == '"' then
			return str()
		end
		local word = text:match("^[%w%+%-%.]+", at)
		if not word then
			error("no value at byte " .. at)
		end
		at = at + #word
		if word == "true" or word == "false" then
			return word == "true"
		end
		return tonumber(word) -- null is nil
	end

	return value()
end

local function slopes(s)
	return { least = s and s.least_ppm or -500, most = s and s.most_ppm or 500 }
end

-- A clock's knots by epoch, and where it was set back.
local function clock_of(c)
	local out = { name = c.name, reference = c.quality == "reference", epoch = {}, set_back = {} }
	for _, k in ipairs(c.knots or {}) do
		local e = (k.epoch or 0) + 1
		out.epoch[e] = out.epoch[e] or {}
		local list = out.epoch[e]
		list[#list + 1] = {
			x = of_digits(k.local_ns),
			offset = k.offset_ns and of_digits(k.offset_ns),
			lo = k.lo_ns and of_digits(k.lo_ns),
			hi = k.hi_ns and of_digits(k.hi_ns),
		}
	end
	local first = c.knots and c.knots[1]
	out.first = first and out.epoch[(first.epoch or 0) + 1][1]
	for i, s in ipairs(c.set_back or {}) do
		out.set_back[i] = { from = of_digits(s.from_ns), to = of_digits(s.to_ns) }
	end
	out.before, out.after = slopes(c.before), slopes(c.after)
	return out
end

local function read_clocks(path)
	local file, why = io.open(path, "rb")
	if not file then
		return nil, why
	end
	local text = file:read("*a")
	file:close()
	if text:sub(1, 2) == "\31\139" or text:sub(1, 4) == "\40\181\47\253" then
		return nil, path .. " is compressed: unpack it first"
	end
	local ok, all = pcall(parse_json, text)
	if not ok or type(all) ~= "table" or type(all.clocks) ~= "table" then
		return nil, path .. " is no clocks.json of unskew" .. (ok and "" or ": " .. tostring(all))
	end
	local clocks, n = {}, 0
	for _, c in ipairs(all.clocks) do
		clocks[c.name] = clock_of(c)
		n = n + 1
	end
	return clocks, nil
end

---- a stamp on the reference's clock ------------------------------------------------------------

-- What one side of the band, or the estimate, is at x: floor((o1 - o0)(x - x0) / (x1 - x0)) more
-- than at the knot before.
local function between(k, l, side, x)
	if not k[side] or not l[side] then
		return nil
	end
	local rise, run = less(l[side], k[side]), less(l.x, k.x)
	return plus_ns(k[side], math.floor(rise * (less(x, k.x) / run)))
end

-- Beyond an outermost knot the estimate's slope goes on, cut to what the clock's rate allows there;
-- the band parts by that.
local function beyond(k, l, edge, side, x, rates)
	if not edge[side] then
		return nil
	end
	local d = less(x, edge.x)
	local ppm = side == "lo" and (d < 0 and rates.most or rates.least)
		or (d < 0 and rates.least or rates.most)
	if side == "offset" then
		ppm = less(l.offset, k.offset) / less(l.x, k.x) * 1e6
		ppm = math.max(rates.least, math.min(rates.most, ppm))
	end
	return plus_ns(edge[side], math.floor(d * ppm / 1e6))
end

-- How many of list, which rises by key(), are below x.
local function below(list, x, key)
	local lo, hi = 1, #list + 1
	while lo < hi do
		local mid = math.floor((lo + hi) / 2)
		if less(key(list[mid]), x) < 0 then
			lo = mid + 1
		else
			hi = mid
		end
	end
	return lo - 1
end

local function local_time(knot)
	return knot.x
end

local function corrected_time(knot)
	return plus(knot.x, knot.offset)
end

-- Offsets of a stamp: { offset =, lo =, hi = }, each of which may be unknown; nil: all are.
local function offsets(clock, epoch, x)
	local knots = clock.epoch[epoch + 1]
	if clock.reference and not knots then
		local zero = { s = 0, ns = 0 }
		return { offset = zero, lo = zero, hi = zero }
	end
	if not knots or #knots < 2 then
		return nil
	end
	local lo = below(knots, x, local_time) + 1
	local out = {}
	for _, side in ipairs({ "offset", "lo", "hi" }) do
		if lo == 1 and less(x, knots[1].x) < 0 then
			out[side] = beyond(knots[1], knots[2], knots[1], side, x, clock.before)
		elseif lo > #knots then
			out[side] = beyond(knots[#knots - 1], knots[#knots], knots[#knots], side, x,
				clock.after)
		else
			local right = math.max(lo, 2)
			out[side] = between(knots[right - 1], knots[right], side, x)
		end
	end
	return out
end

---- and back ----------------------------------------------------------------------------------

-- How fast the reference's time passes from one knot to the next, or beyond the outermost ones: of each
-- unit of the clock's own. And the knot from where.
local function pace(clock, knots, y)
	local n = below(knots, y, corrected_time)
	local k = knots[math.max(n, 1)]
	local l = knots[math.min(math.max(n, 1) + 1, #knots)]
	if n == 0 or n == #knots then
		local a, b = n == 0 and k or knots[n - 1], n == 0 and l or k
		local ppm = less(b.offset, a.offset) / less(b.x, a.x) * 1e6
		local rates = n == 0 and clock.before or clock.after
		return k, 1 + math.max(rates.least, math.min(rates.most, ppm)) / 1e6
	end
	return k, less(corrected_time(l), corrected_time(k)) / less(l.x, k.x)
end

-- The first stamp that is y when it is corrected, or next to it, as these are doubles.
local function back_in(clock, epoch, y)
	local k, rate = pace(clock, clock.epoch[epoch + 1], y)
	local d = less(y, corrected_time(k))
	local x = plus_ns(k.x, rate > 0 and math.ceil(d / rate - 1e-3) or 0)
	for _, near in ipairs({ -1, 0, 1 }) do
		local o = offsets(clock, epoch, plus_ns(x, near))
		if less(plus(plus_ns(x, near), o.offset), y) == 0 then
			return plus_ns(x, near)
		end
	end
	return x
end

local function is_tied(clock, epoch)
	local knots = clock.epoch[epoch + 1]
	return knots and #knots >= 2 and knots[1].offset
end

-- On the reference's clock, where an epoch begins: between the last stamp before and the first of its
-- own, as another capture by this clock may have gone on a little, or begun earlier.
local function begins(clock, epoch)
	local back = clock.set_back[epoch]
	local first = plus(back.to, offsets(clock, epoch, back.to).offset)
	if not is_tied(clock, epoch - 1) then
		return first
	end
	local last = plus(back.from, offsets(clock, epoch - 1, back.from).offset)
	return plus_ns(last, math.floor(less(first, last) / 2))
end

-- The recorded stamp and its epoch, of a corrected stamp: epochs follow one another there, too.
local function recorded_of(clock, y)
	local epoch
	for e = 0, #clock.set_back do
		if is_tied(clock, e) and (not epoch or less(y, begins(clock, e)) > 0) then
			epoch = e
		end
	end
	if not epoch then
		return nil
	end
	return back_in(clock, epoch, y), epoch
end

---- messages.csv --------------------------------------------------------------------------------

-- By clock and stamp: the other end of a packet's way, and whether it is the sender's.
local function read_messages(path)
	local file, why = io.open(path, "rb")
	if not file then
		return nil, why
	end
	local messages, head = {}, nil
	for line in file:lines() do
		local from, to, sent, received = line:match("^([^,]*),([^,]*),(%-?%d+),(%-?%d+)")
		if from then
			local a, b = of_digits(sent), of_digits(received)
			messages[from .. "\0" .. key_of(a)] = { peer = to, at = b, sent = true }
			messages[to .. "\0" .. key_of(b)] = { peer = from, at = a, sent = false }
		elseif head then
			file:close()
			return nil, path .. " is no messages.csv of unskew: " .. line:sub(1, 60)
		end
		head = head or line
	end
	file:close()
	return messages, nil
end

---- packets -------------------------------------------------------------------------------------

local clocks, messages, problem
local epochs = {}  -- by number of packet
local running = {} -- by clock: { epoch =, highest = }

function unskew.init()
	clocks, messages, problem = nil, nil, nil
	epochs, running = {}, {}
	if unskew.prefs.clocks ~= "" then
		clocks, problem = read_clocks(unskew.prefs.clocks)
	end
	if clocks and unskew.prefs.messages ~= "" then
		messages, problem = read_messages(unskew.prefs.messages)
	end
	if clocks and unskew.prefs.clock ~= "" and not clocks[unskew.prefs.clock] then
		problem = "there is no clock " .. unskew.prefs.clock .. " in " .. unskew.prefs.clocks
	end
end

-- Packets come in the order of the file when they come first: where the clock was set back, stamps
-- fall to those behind it.
local function epoch_of(clock, number, x)
	if epochs[number] then
		return epochs[number]
	end
	local r = running[clock.name] or { epoch = 0 }
	running[clock.name] = r
	local next_back = clock.set_back[r.epoch + 1]
	if next_back and r.last and less(r.last, next_back.from) >= 0 and less(x, next_back.to) <= 0 then
		r.epoch = r.epoch + 1
		r.last = nil
	end
	if not r.last or less(x, r.last) > 0 then
		r.last = x
	end
	epochs[number] = r.epoch
	return r.epoch
end

-- The clock of a packet, and how an interface's description says its stamps were moved: nil if not.
local function stamped_by()
	local named, described = interface_name(), interface_description()
	local name, offset, at
	if described then
		name, offset, at = tostring(described.value):match(
			"stamps of (.*) put on the clock of .* by unskew: ([%+%-]%d+%.%d+) s at (%-?%d+%.%d+)$")
	end
	if name then
		return clocks[name], { offset = of_seconds(offset), x = of_seconds(at) }
	end
	name = named and tostring(named.value)
	if name and not clocks[name] then
		name = name:match("^(.*)/[^/]*$") -- an interface of it
	end
	return name and clocks[name] or clocks[unskew.prefs.clock]
end

local function is_of_answer(clock, moved)
	local first = clock and clock.first
	return first and first.offset and less(first.x, moved.x) == 0 and less(first.offset, moved.offset) == 0
end

-- The clock of a packet, what that showed, and the epoch where that follows from the corrected stamp;
-- or why it is not known.
local function recorded()
	local now = epoch_time()
	if not now then
		return nil
	end
	local x = normal(now.value.secs, now.value.nsecs)
	local clock, moved = stamped_by()
	for _, c in ipairs(clock and { comments() } or {}) do
		local was = tostring(c.value):match("recorded (%-?%d+%.?%d*)")
		if was then
			return clock, of_seconds(was)
		end
	end
	if moved and not is_of_answer(clock, moved) then
		return nil, nil, nil, "stamps were moved by another answer than " .. unskew.prefs.clocks
	elseif moved then
		return clock, recorded_of(clock, x)
	end
	return clock, x
end

local function on_reference(x, o, side)
	return o and o[side] and plus(x, o[side])
end

-- A stamp that was computed may be off by 1 ns.
local function message_of(clock, x, computed)
	for _, near in ipairs(messages and (computed and { 0, 1, -1 } or { 0 }) or {}) do
		local m = messages[clock.name .. "\0" .. key_of(plus_ns(x, near))]
		if m then
			return m
		end
	end
	return nil
end

local function add_delay(tree, clock, x, o, computed)
	local m = message_of(clock, x, computed)
	local other = m and clocks[m.peer]
	local there = other and #other.set_back == 0 and offsets(other, 0, m.at)
	if not m then
		return
	end
	tree:add(shown.peer, m.peer)
	local function between_sides(name, mine, theirs)
		local a, b = on_reference(x, o, mine), on_reference(m.at, there, theirs)
		if a and b then
			local ns = m.sent and less(b, a) or less(a, b)
			tree:add(shown[name], nstime(normal(0, ns)))
		end
	end
	if there then
		between_sides("delay", "offset", "offset")
		between_sides("delay_least", m.sent and "hi" or "lo", m.sent and "lo" or "hi")
		between_sides("delay_most", m.sent and "lo" or "hi", m.sent and "hi" or "lo")
	end
end

function unskew.dissector(_, pinfo, root)
	local clock, x, epoch, wrong
	if clocks then
		clock, x, epoch, wrong = recorded()
	end
	wrong = problem or wrong
	if wrong then
		root:add(unskew, wrong):add(shown.wrong, wrong)
	end
	if not clock or not x then
		return
	end
	local o = offsets(clock, epoch or epoch_of(clock, pinfo.number, x), x)
	if not o then
		return
	end
	local time, lo, hi = on_reference(x, o, "offset"), on_reference(x, o, "lo"), on_reference(x, o, "hi")
	local tree = root:add(unskew)
	tree:add(shown.clock, clock.name)
	if time then
		tree:add(shown.time, nstime(time))
	end
	if lo and hi then
		-- The estimate need not be in the middle: the larger of both sides.
		local either = time and math.max(less(hi, time), less(time, lo)) or less(hi, lo)
		tree:add(shown.error, nstime(normal(0, either)))
	end
	if lo then
		tree:add(shown.earliest, nstime(lo))
	end
	if hi then
		tree:add(shown.latest, nstime(hi))
	end
	add_delay(tree, clock, x, o, epoch ~= nil)
end

register_postdissector(unskew)

"""A second, deliberately plain telling of SEMANTICS §2, tick by tick, with dicts and lists.

It shares nothing with ``engine`` but the names of the settings. Where the two differ, the page decides.
``Oracle(requests, service).run()`` gives one dict per tick with the names of TickRecord.
"""

from __future__ import annotations

from fractions import Fraction

FOREVER = Fraction(10**9)


def ceil_div(a, b):
    return -(-a // b)


class Oracle:
    """One run of a closed trace. ``cancels`` maps a tick to the ids cancelled just before it."""

    def __init__(self, requests, service, horizon=None, cancels=None, stops=None):
        self.service = service
        self.tick_length = Fraction(service.tick)
        self.horizon = FOREVER if horizon is None else Fraction(str(horizon))
        self.cancels = cancels or {}
        self.stops = stops or {}
        self.requests = {r.id: r for r in requests}
        ranked = sorted(enumerate(requests), key=lambda pair: (Fraction(pair[1].arrival), pair[0]))
        self.pending = [self.new(request) for _, request in ranked]
        self.longest = max(r.prompt_tokens + r.output_tokens for r in requests)
        self.waiting, self.active, self.ticks = [], [], []
        self.admissions = 0
        self.recomputed = {r.id: 0 for r in requests}
        self.preemptions = {r.id: 0 for r in requests}

    def new(self, request):
        return {
            "id": request.id,
            "arrival": Fraction(request.arrival),
            "prompt": request.prompt_tokens,
            "output": request.output_tokens,
            "priority": request.priority,
            "submitted": list(self.requests).index(request.id),
            "skipped": 0,
            "emitted": 0,
            "processed": 0,
            "work": request.prompt_tokens,
            "ready_since": None,
            "last_token": None,
            "place": None,
            "done": False,
            "taken": 0,
            "run": None,
            "again": False,
        }

    # ------------------------------------------------------------------ the run

    def run(self):
        k = 0
        while (self.pending or self.waiting or self.active) and k * self.tick_length < self.horizon:
            self.ticks.append(self.one_tick(k))
            k += 1
        return self.ticks

    def one_tick(self, k):
        self.now = {"tick": k, "preempted": [], "admitted": [], "prefill": [], "decode": []}
        self.cancel(k)
        self.arrive(k)
        chosen = self.decode(k)
        if not self.now["preempted"]:
            self.admit(k)
        self.prefill(chosen)
        self.now["waiting"] = [seq["id"] for seq in self.waiting]
        self.now["active"] = [seq["id"] for seq in self.active]
        self.emit(k, chosen)
        self.figures()
        self.release()
        return self.now

    # ------------------------------------------------------------------ 1. arrive

    def cancel(self, k):
        self.now["cancelled"] = []
        for name in self.cancels.get(k, ()):
            for place in (self.pending, self.waiting, self.active):
                for seq in [s for s in place if s["id"] == name and not s["done"]]:
                    place.remove(seq)
                    self.now["cancelled"].append(name)
        self.release()

    def arrive(self, k):
        self.now["arrived"], self.now["refused"] = [], []
        while self.pending and self.pending[0]["arrival"] <= k * self.tick_length:
            seq = self.pending.pop(0)
            self.now["arrived"].append(seq["id"])
            if self.never_fits(seq):
                self.now["refused"].append(seq["id"])
            else:
                self.waiting.append(seq)
                self.in_order()

    def never_fits(self, seq):
        service, total = self.service, seq["prompt"] + seq["output"]
        if service.kv_layout == "contiguous" and total > (service.max_len or self.longest):
            return True
        if service.pages is None:
            return False
        if service.kv_layout != "paged":
            return self.run_length(seq) > service.pages * service.page_size
        if service.kv_reserve == "on_demand":
            total -= 1
        return ceil_div(total, service.page_size) > service.pages

    # ------------------------------------------------------------------ the pool

    def used(self):
        return sum(seq["taken"] for seq in self.active)

    def free(self):
        return FOREVER if self.service.pages is None else self.service.pages - self.used()

    def run_length(self, seq):
        if self.service.kv_layout == "contiguous":
            return self.service.max_len or self.longest
        return seq["prompt"] + seq["output"]

    def first_fit(self, length):
        """The lowest start of a free run of ``length`` slots, None when there is none."""
        slots = FOREVER if self.service.pages is None else self.service.pages * self.service.page_size
        start = 0
        for low, high in sorted(seq["run"] for seq in self.active if seq["run"]):
            if low - start >= length:
                return start
            start = high
        return start if slots - start >= length else None

    def take_at_admission(self, seq):
        """True when the pool has what the request asks for; it is then taken."""
        if self.service.kv_layout != "paged":
            length = self.run_length(seq)
            start = self.first_fit(length)
            if start is None:
                return False
            seq["run"] = (start, start + length)
            return True
        asked = seq["prompt"] + seq["output"]
        if self.service.kv_reserve == "on_demand":
            asked = seq["prompt"] + seq["emitted"]
        asked = ceil_div(asked, self.service.page_size)
        if asked > self.free():
            return False
        seq["taken"] = asked
        return True

    # ------------------------------------------------------------------ 2. decode

    def decode(self, k):
        ready = [s for s in self.active if not s["done"] and s["ready_since"] is not None]
        ready = [s for s in ready if s["ready_since"] < k]
        ready.sort(key=lambda s: s["place"])
        if self.service.decode_order == "round_robin":
            ready.sort(key=lambda s: s["last_token"])
        if self.service.decode_order == "shortest":
            ready.sort(key=lambda s: s["output"] - s["emitted"])
        if self.service.decode_order == "priority":
            ready.sort(key=lambda s: -s["priority"])
        if self.service.decode_order in ("shortest", "priority"):
            ready.sort(key=lambda s: -s["skipped"] if self.had_enough(s) else 0)
        slots = self.service.decode_slots
        if self.service.shared_budget is not None:
            slots = min(slots, self.service.shared_budget)
        chosen = ready[:slots]
        for seq in ready[slots:]:
            seq["skipped"] += 1
        if self.service.kv_reserve == "on_demand":
            for seq in chosen:
                if seq in self.active:
                    self.room_for_one_token(seq)
            chosen = [seq for seq in chosen if seq in self.active]
        self.now["decode"] = [(seq["id"], 1) for seq in chosen]
        return chosen

    def had_enough(self, seq):
        """Passed over ``max_skip`` times."""
        return self.service.max_skip is not None and seq["skipped"] >= self.service.max_skip

    def room_for_one_token(self, seq):
        written = seq["prompt"] + seq["emitted"] - 1
        if written < seq["taken"] * self.service.page_size:
            return
        while self.free() == 0:
            victim = max((s for s in self.active if not s["done"]), key=lambda s: s["place"])
            self.preempt(victim)
            if victim is seq:
                return
        seq["taken"] += 1

    def preempt(self, seq):
        self.active.remove(seq)
        self.waiting.insert(0, seq)
        self.now["preempted"].append(seq["id"])
        self.preemptions[seq["id"]] += 1
        self.recomputed[seq["id"]] += self.written(seq)
        work = seq["prompt"] + seq["emitted"]
        seq.update(processed=0, work=work, ready_since=None, taken=0, again=True, skipped=0)

    # ------------------------------------------------------------------ 3. admit

    def in_order(self):
        """Sort the queue: those preempted, those passed over too often, the rest by the order."""
        if self.service.queue_order == "fcfs":
            return
        self.waiting.sort(key=lambda s: (s["arrival"], s["submitted"]))
        fresh = [s for s in self.waiting if not s["again"] and not self.had_enough(s)]
        if self.service.queue_order == "shortest":
            fresh.sort(key=lambda s: s["prompt"] + s["output"])
        else:
            fresh.sort(key=lambda s: -s["priority"])
        aged = [s for s in self.waiting if not s["again"] and self.had_enough(s)]
        preempted = sorted((s for s in self.waiting if s["again"]), key=lambda s: s["place"])
        self.waiting = preempted + aged + fresh

    def admit(self, k):
        while self.waiting and self.may_admit(k) and self.take_at_admission(self.waiting[0]):
            seq = self.waiting.pop(0)
            self.active.append(seq)
            seq["skipped"] = 0
            for other in self.waiting:
                if self.service.queue_order != "fcfs" and other["submitted"] < seq["submitted"]:
                    other["skipped"] += 1
            self.in_order()
            seq["place"] = self.admissions
            self.admissions += 1
            self.now["admitted"].append(seq["id"])

    def may_admit(self, k):
        fresh = len(self.now["admitted"])
        if self.service.policy == "immediate":
            return not self.active
        if self.service.policy == "static":
            if fresh:
                return fresh < self.service.batch_size
            oldest = min(seq["arrival"] for seq in self.waiting)
            full = len(self.waiting) >= self.service.batch_size
            overdue = k * self.tick_length - oldest >= Fraction(self.service.max_wait)
            return not self.active and (full or overdue or not self.pending)
        return self.service.max_active is None or len(self.active) < self.service.max_active

    # ------------------------------------------------------------------ 4. prefill

    def prefill(self, chosen):
        budget = self.service.prefill_budget
        if self.service.shared_budget is not None:
            budget = min(budget, self.service.shared_budget - len(chosen))
        left = budget
        for seq in sorted(self.active, key=lambda s: s["place"]):
            todo = seq["work"] - seq["processed"]
            if todo == 0:
                continue
            fresh = seq["processed"] == 0
            if not self.service.chunked_prefill and fresh and todo > left and left < budget:
                return
            count = min(todo, left)
            if count == 0:
                return
            self.now["prefill"].append((seq["id"], seq["processed"], count, seq["again"]))
            seq["processed"] += count
            left -= count

    # ------------------------------------------------------------------ 5. emit, 6. finish

    def emit(self, k, chosen):
        self.now["emitted"], self.now["finished"] = [], []
        for seq in chosen:
            self.one_token(seq, k)
        for name, *_ in self.now["prefill"]:
            seq = next(s for s in self.active if s["id"] == name)
            if seq["processed"] == seq["work"]:
                seq["ready_since"] = k
                self.one_token(seq, k)

    def one_token(self, seq, k):
        self.now["emitted"].append((seq["id"], seq["emitted"], None))
        seq["emitted"] += 1
        seq["last_token"], seq["skipped"] = k, 0
        if seq["emitted"] == self.stops.get(seq["id"], -1):
            seq["done"] = True
            self.now["finished"].append((seq["id"], "stop"))
        elif seq["emitted"] == seq["output"]:
            seq["done"] = True
            self.now["finished"].append((seq["id"], "length"))

    def written(self, seq):
        if seq["ready_since"] is None:
            return seq["processed"]
        return seq["prompt"] + seq["emitted"] - 1

    def held(self, seq):
        if seq["ready_since"] is None:
            return seq["processed"]
        return seq["prompt"] + seq["emitted"]

    def figures(self):
        """End of the tick: after emission, before release."""
        self.now["reserved"] = sum(s["prompt"] + s["output"] for s in self.active)
        self.now["held"] = sum(self.held(s) for s in self.active)
        self.now["written"] = sum(self.written(s) for s in self.active)
        self.now["free"] = None if self.service.pages is None else self.free()
        self.now["taken"] = {s["id"]: s["taken"] for s in self.active}
        self.now["runs"] = {s["id"]: s["run"] for s in self.active}

    def release(self):
        if self.service.policy == "static" and not all(seq["done"] for seq in self.active):
            return
        self.active = [seq for seq in self.active if not seq["done"]]

// A picture of how a run is laid out over its GPUs, and over which of them FSDP shards.
//
// Ranks are numbered as Megatron-Core does: tensor parallel first, then context, data, pipeline; for experts tensor, expert,
// data, pipeline. What is sharded goes over data and context parallel ranks together, that of experts over the expert data
// parallel ranks; with several optimizer instances over the ranks of one instance.

const SVG = "http://www.w3.org/2000/svg";
const MOST_RANKS = 512;

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** A setting as a number; NaN where it is not known to be one, `missing` where it is None or not there. */
function size(recipe, path, missing = 1) {
  const value = recipe.runs(path);
  return value === null || value === "None" ? missing : /^\d+$/.test(value) ? Number(value) : NaN;
}

function sizesOf(recipe) {
  const [tp, pp, cp, ep] = ["tensor", "pipeline", "context", "expert"].map((name) => {
    const path = name === "context" ? "model.context_parallel_size" : `model.${name}_model_parallel_size`;
    return [path, size(recipe, path)];
  });
  const etp = ["model.expert_tensor_parallel_size", size(recipe, "model.expert_tensor_parallel_size", tp[1])];
  const instances = ["ddp.num_distributed_optimizer_instances", size(recipe, "ddp.num_distributed_optimizer_instances")];
  const unknown = [tp, pp, cp, ep, etp].filter(([, number]) => !(number > 0)).map(([path]) => path);
  return { tp: tp[1], pp: pp[1], cp: cp[1], ep: ep[1], etp: etp[1], instances: instances[1] > 0 ? instances[1] : 1, unknown };
}

const gcd = (one, other) => (other ? gcd(other, one % other) : one);
const lcm = (one, other) => (one / gcd(one, other)) * other;

/** The smallest number of GPUs that such a run can have, so that something is left to shard over. */
function fewest(sizes) {
  const whole = lcm(sizes.tp * sizes.cp * sizes.pp, sizes.etp * sizes.ep * sizes.pp);
  const copies = whole / (sizes.tp * sizes.cp * sizes.pp);
  const wanted = Math.max(2, sizes.instances > 1 ? sizes.instances * 2 : 1);
  return copies * sizes.cp >= wanted ? whole : whole * Math.ceil(wanted / copies);
}

const SHARDED = {
  optim: "optimizer states",
  optim_grads: "optimizer states and gradients",
  optim_grads_params: "optimizer states, gradients and parameters",
};

/** What is sharded, by whom; `what` is empty where every rank holds all of it. */
function sharding(recipe) {
  const kind = recipe.effective(FSDP);
  const strategy = (recipe.runs("ddp.data_parallel_sharding_strategy") || "").replaceAll('"', "");
  if (kind === "megatron-fsdp") return { by: "Megatron-FSDP", what: strategy === "no_shard" ? "" : SHARDED[strategy], known: strategy === "no_shard" || strategy in SHARDED };
  if (kind === "torch-fsdp2") return { by: "torch FSDP2", what: SHARDED.optim_grads_params, known: true };
  if (kind !== "–") return { by: "FSDP", what: "", known: false };
  const distributed = recipe.runs("ddp.use_distributed_optimizer");
  if (distributed === "True") return { by: "The distributed optimizer", what: SHARDED.optim, known: true };
  return { by: "DDP", what: "", known: distributed === "False" };
}

/** The ranks of the groups that rank 0 is in: those that share a shard of dense parameters, and of experts. */
function groupsOf(sizes, gpus) {
  const stage = gpus / sizes.pp;
  const over = stage / sizes.tp;
  const dense = Array.from({ length: over / sizes.instances }, (_, each) => each * sizes.tp);
  const step = sizes.etp * sizes.ep;
  const experts = Array.from({ length: stage / step }, (_, each) => each * step);
  return { dense: new Set(dense), experts: sizes.ep > 1 && sizes.instances === 1 ? new Set(experts) : new Set() };
}

function layoutPicture(recipe) {
  const sizes = sizesOf(recipe);
  const section = el("section", { class: "layout", "aria-labelledby": "layout-title" }, el("h2", { id: "layout-title" }, "Parallel layout"));
  if (sizes.unknown.length) {
    section.append(el("p", { class: "soft" }, `Not drawn: ${sizes.unknown.join(", ")} ${sizes.unknown.length === 1 ? "is" : "are"} not known.`));
    return section;
  }
  const least = fewest(sizes);
  const asked = recipe.memory && recipe.memory.ranks % least === 0 ? recipe.memory.ranks : least;
  const options = [...new Set([asked, ...[1, 2, 4, 8, 16, 32].map((times) => least * times)])].sort((one, other) => one - other);
  const drawing = el("div", {});
  const select = el("select", { id: "gpus", onchange: (event) => drawing.replaceChildren(...drawn(recipe, sizes, Number(event.target.value))) },
    options.map((gpus) => el("option", { value: gpus, selected: gpus === asked }, String(gpus))));
  section.append(el("p", { class: "gpus" }, el("label", { for: "gpus" }, "GPUs"), select), drawing);
  drawing.append(...drawn(recipe, sizes, asked));
  return section;
}

function drawn(recipe, sizes, gpus) {
  const dp = gpus / (sizes.tp * sizes.cp * sizes.pp);
  const { by, what, known } = sharding(recipe);
  const groups = groupsOf(sizes, gpus);
  const parts = [["TP", sizes.tp], ["PP", sizes.pp], ["CP", sizes.cp], ["DP", dp]];
  const sentence = !known
    ? `What ${by} shards is not known.`
    : what
      ? `${by} shards ${what} over ${counted(groups.dense.size, "rank")} (DP × CP${sizes.instances > 1 ? ` of one of ${sizes.instances} instances` : ""})` +
        (groups.experts.size > 1 ? `, those of experts over ${counted(groups.experts.size, "rank")} (expert DP).` : groups.experts.size ? `; experts are on one rank each (expert DP is 1).` : ".")
      : `${by} shards nothing: every rank of ${dp * sizes.cp} (DP × CP) holds all of its part.`;
  const formula = el("p", { class: "formula" },
    parts.flatMap(([name, number], at) => [at ? " × " : "", el("span", { class: number > 1 ? "many" : "one" }, `${name} ${number}`)]), ` = ${gpus} GPUs`,
    sizes.ep > 1 ? el("span", { class: "soft" }, `; experts: ETP ${sizes.etp} × EP ${sizes.ep} × DP ${gpus / (sizes.pp * sizes.etp * sizes.ep)} in each stage`) : "");
  const says = el("p", {}, sentence);
  const shownGroups = known && what ? groups : null;
  const stages = Math.min(sizes.pp, Math.floor(MOST_RANKS / (gpus / sizes.pp)));
  if (!stages) return [formula, says, el("p", { class: "soft" }, `${gpus} ranks are more than can be drawn.`)];
  const more = sizes.pp - stages;
  return [formula, ranksPicture(sizes, gpus, stages, shownGroups, sentence), more ? el("p", { class: "soft" }, `${counted(more, "more stage")} ${more === 1 ? "is" : "are"} alike.`) : "", says, groupsLegend(shownGroups)];
}

/** A panel for each of the first pipeline stages: a row for each data parallel rank, in it the tensor parallel ranks of each context part. */
function ranksPicture(sizes, gpus, stages, groups, sentence) {
  const [box, gap, apart, top] = [22, 3, 10, 20];
  const perStage = gpus / sizes.pp;
  const dp = perStage / (sizes.tp * sizes.cp);
  // Flat stages are folded, so that the picture is about as wide as high.
  const wide = sizes.tp * sizes.cp;
  const fold = Math.max(1, Math.min(dp, Math.floor(16 / wide)));
  const stageWidth = fold * (sizes.cp * (sizes.tp * (box + gap) + (sizes.cp > 1 ? apart / 2 : 0)) + (wide > 1 ? apart : 0));
  const stageHeight = top + Math.ceil(dp / fold) * (box + gap) + apart;
  const across = Math.max(1, Math.min(stages, Math.floor(520 / (stageWidth + apart))));
  const width = Math.max(across * (stageWidth + apart), 70);
  const height = Math.ceil(stages / across) * stageHeight;
  const picture = svg("svg", { viewBox: `-2 0 ${width} ${height}`, width, role: "img", class: "ranks",
    "aria-label": `${gpus} ranks: ${counted(sizes.pp, "pipeline stage")}, each with ${counted(dp, "data parallel row")} of ${counted(sizes.cp, "context part")} of ${counted(sizes.tp, "tensor parallel rank")}. ${sentence}` });
  for (let rank = 0; rank < stages * perStage; rank += 1) {
    const [stage, inStage] = [Math.floor(rank / perStage), rank % perStage];
    const [tp, cp, row] = [inStage % sizes.tp, Math.floor(inStage / sizes.tp) % sizes.cp, Math.floor(inStage / wide)];
    const left = (stage % across) * (stageWidth + apart);
    const up = Math.floor(stage / across) * stageHeight;
    if (inStage === 0) picture.append(svg("text", { x: left, y: up + 13, class: "stage" }, sizes.pp > 1 ? `stage ${stage}` : "all layers"));
    const x = left + (row % fold) * (stageWidth / fold) + cp * (sizes.tp * (box + gap) + (sizes.cp > 1 ? apart / 2 : 0)) + tp * (box + gap);
    const y = up + top + Math.floor(row / fold) * (box + gap);
    const kinds = groups ? `${groups.dense.has(rank) ? " dense" : ""}${groups.experts.has(rank) ? " experts" : ""}` : "";
    picture.append(svg("rect", { x, y, width: box, height: box, rx: 3, class: `rank${kinds}` }), svg("text", { x: x + box / 2, y: y + box / 2 + 3.5, class: `number${kinds}` }, String(rank)));
  }
  return el("div", { class: "drawing", tabindex: 0, role: "group", "aria-label": "Picture of the ranks" }, picture);
}

function groupsLegend(groups) {
  if (!groups) return "";
  const key = (kind, text) => el("li", {}, el("span", { class: `key ${kind}`, "aria-hidden": true }), text);
  return el("ul", { class: "keys" }, key("dense", "share the parameters that rank 0 has part in"), groups.experts.size ? key("experts", "likewise of its experts") : "");
}

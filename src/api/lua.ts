/**
 * Health and actions of our kinds in the words of Argo CD: Lua in a patch of its ConfigMap argocd-cm. One script serves every
 * kind with the trio of conditions, but Argo CD wants a copy under each kind's key.
 */
import { stringify } from 'yaml';
import { annotations, apiGroup } from './group.ts';
import { kinds } from './kinds.ts';

/** Open: the sync goes on. Superseded: it fails with our words. Closed: it waits, and fails after two minutes. */
const gateHealth = `local status = obj.status
if status == nil or status.phase == nil or status.answeredUID ~= obj.metadata.uid then
  return { status = "Progressing", message = "waiting for GitOps Reverser to publish live edits" }
end
local message = status.message or ""
if status.phase == "Open" then
  return { status = "Healthy", message = message }
end
if status.phase == "Superseded" or (status.phase == "Closed" and status.degraded == true) then
  return { status = "Degraded", message = message }
end
return { status = "Progressing", message = message }
`;

const trioHealth = `local status = obj.status
if status == nil or status.conditions == nil then
  return { status = "Progressing", message = "waiting for GitOps Reverser" }
end
local observed = status.observedGeneration
if observed ~= nil and obj.metadata.generation ~= nil and observed ~= obj.metadata.generation then
  return { status = "Progressing", message = "the newest spec was not looked at yet" }
end
local ready, stalled
for _, condition in ipairs(status.conditions) do
  if condition.type == "Ready" then ready = condition end
  if condition.type == "Stalled" then stalled = condition end
end
if ready == nil then
  return { status = "Progressing", message = "waiting for GitOps Reverser" }
end
local message = ready.reason
if ready.message ~= nil and ready.message ~= "" then message = message .. ": " .. ready.message end
if ready.status == "True" then
  if ready.reason == "Suspended" then return { status = "Suspended", message = message } end
  return { status = "Healthy", message = message }
end
if stalled ~= nil and stalled.status == "True" then
  return { status = "Degraded", message = message }
end
return { status = "Progressing", message = message }
`;

interface Action {
  readonly name: string;
  readonly title: string;
  readonly icon: string;
  /** Set to the time of the click. */
  readonly annotation: string;
}

const lookAgain = { icon: 'fa-redo', annotation: annotations.requestedAt } as const;

const actions: Readonly<Record<string, readonly Action[]>> = {
  SyncGate: [{ ...lookAgain, name: 'ask-again', title: 'Ask again' }],
  GitTarget: [
    {
      name: 'flush',
      title: 'Publish pending edits',
      icon: 'fa-upload',
      annotation: annotations.flushRequestedAt,
    },
    { ...lookAgain, name: 'resync', title: 'Read Git and the cluster again' },
  ],
  GitBranch: [{ ...lookAgain, name: 'look-again', title: 'Look at the remote again' }],
};

/** Data of the ConfigMap, by key. */
export function argocdConfig(): Record<string, string> {
  const entries = kinds.flatMap(({ kind, conditions }): [string, string][] => {
    const key = (what: string) => `resource.customizations.${what}.${apiGroup}_${kind}`;
    const health = Object.hasOwn(conditions, 'Ready') ? trioHealth : gateHealth;
    const own = actions[kind];
    return [
      [key('health'), health],
      ...(own === undefined ? [] : ([[key('actions'), actionsText(own)]] as [string, string][])),
    ];
  });
  return Object.fromEntries(entries);
}

/** The patch as a file. */
export function argocdConfigFile(): { name: string; text: string } {
  const patch = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm' },
    data: argocdConfig(),
  };
  const words =
    '# Health and actions of our kinds for Argo CD: a patch of its ConfigMap. Without the health of SyncGate no sync waits.\n# Made by `make generate` from src/api/lua.ts.\n';
  return { name: 'lua.yaml', text: `${words}${stringify(patch, { lineWidth: 0 })}` };
}

function actionsText(own: readonly Action[]): string {
  const discovered = own.map(
    ({ name, title, icon }) =>
      `  ["${name}"] = { displayName = "${title}", iconClass = "fa fa-fw ${icon}" },`,
  );
  const definitions = own.map(({ name, annotation }) => ({
    name,
    'action.lua': `local os = require("os")
if obj.metadata.annotations == nil then obj.metadata.annotations = {} end
obj.metadata.annotations["${annotation}"] = os.date("!%Y-%m-%dT%XZ")
return obj
`,
  }));
  return stringify(
    { 'discovery.lua': `return {\n${discovered.join('\n')}\n}\n`, definitions },
    { lineWidth: 0 },
  );
}

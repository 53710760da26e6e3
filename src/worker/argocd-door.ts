/**
 * The door of Argo CD: answers every SyncGate that Argo CD makes, in whatever cluster it is, and follows the syncs it lets
 * through. The controllers bring the SyncGates and the changes of Applications.
 */
import type { Application } from '../appliers/argocd-application.ts';
import { GateRun, type GateRunOptions, type SeenGate } from './argocd-gate.ts';
import { ArgocdWindows } from './argocd-windows.ts';

export type ArgocdDoorOptions = Omit<GateRunOptions, 'windows'>;

/** SyncGates at work at once; more wait for a place, and their syncs with them. */
const runsAtOnce = 500;

export class ArgocdDoor {
  readonly #options: ArgocdDoorOptions;
  readonly #windows: ArgocdWindows;
  /** By uid. */
  readonly #runs = new Map<string, GateRun>();
  readonly #waiting = new Map<string, SeenGate>();
  /** uids whose run has ended; an object is answered once. */
  readonly #answered = new Set<string>();
  #stopped = false;

  constructor(options: ArgocdDoorOptions) {
    this.#options = options;
    this.#windows = new ArgocdWindows(options);
  }

  /** A SyncGate is there, or has changed. */
  seen(gate: SeenGate): void {
    const { uid } = gate;
    this.#runs.get(uid)?.changed(gate);
    if (this.#stopped || uid === '' || this.#runs.has(uid) || this.#answered.has(uid)) return;
    if (this.#runs.size >= runsAtOnce) this.#waiting.set(uid, gate);
    else this.#start(gate);
  }

  gone(uid: string): void {
    this.#waiting.delete(uid);
    this.#answered.delete(uid);
    this.#runs.get(uid)?.gone();
  }

  /** An Application has changed. @param name `namespace/name` */
  applicationChanged(name: string): void {
    for (const run of this.#runs.values()) if (run.application === name) run.alarm.ring();
    this.#windows.look(name);
  }

  /** A sync writes that asks at no gate. */
  passesBy(application: Application): void {
    const { operation } = application;
    if (operation !== undefined && !this.#stopped) this.#windows.watch(application, operation);
  }

  /** Something may have opened: gates that are closed ask again soon. */
  lookAgain(): void {
    for (const run of this.#runs.values()) run.mayOpen();
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    for (const run of this.#runs.values()) run.alarm.off();
    this.#windows.stop();
  }

  #start(gate: SeenGate): void {
    const { uid, namespace, name } = gate;
    const run = new GateRun(gate, { ...this.#options, windows: this.#windows });
    this.#runs.set(uid, run);
    run
      .run()
      .then(() => this.#answered.add(uid))
      .catch((error: unknown) => {
        // Seen again at its next change; until then its sync waits, which is what unknown means.
        this.#options.log.error({ err: error, namespace, name }, 'answering a SyncGate broke');
      })
      .finally(() => {
        this.#runs.delete(uid);
        this.#next();
      });
  }

  #next(): void {
    const [first] = this.#waiting.values();
    if (first === undefined || this.#stopped) return;
    this.#waiting.delete(first.uid);
    this.#start(first);
  }
}

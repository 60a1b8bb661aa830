import type { Action } from '../../../src/actions/action.ts'
import type { Gate } from '../../../src/gate/gate.ts'

/** Awaited before each step of a call: it may wait, throw or kill the process. */
export type BeforeStep = (
  step: 'read' | 'admit' | 'run' | 'settle' | 'respond',
) => Promise<void> | void

/** Returns a gate that awaits `beforeStep` around its own steps; `withRunStep` adds the step `run`. */
export function withGateSteps(gate: Gate, beforeStep: BeforeStep | undefined): Gate {
  if (!beforeStep) return gate
  return {
    ...gate,
    authenticateForAdmission: async (request) => {
      const caller = await gate.authenticateForAdmission(request)
      await beforeStep('read')
      return caller
    },
    admit: async (caller, received, content) => {
      await beforeStep('admit')
      return gate.admit(caller, received, content)
    },
    settle: async (admitted, completed) => {
      await beforeStep('settle')
      const settlement = await gate.settle(admitted, completed)
      await beforeStep('respond')
      return settlement
    },
  }
}

/** Returns actions that await `beforeStep` before they run. */
export function withRunStep(
  actions: ReadonlyMap<string, Action>,
  beforeStep: BeforeStep | undefined,
): ReadonlyMap<string, Action> {
  if (!beforeStep) return actions
  const hooked = (action: Action): Action => ({
    ...action,
    run: async (call) => {
      await beforeStep('run')
      return action.run(call)
    },
  })
  return new Map([...actions].map(([name, action]) => [name, hooked(action)]))
}

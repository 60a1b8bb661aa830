import type { Action } from './action.ts'
import * as actions from './index.ts'

/** All actions, in the order of `index.ts`. */
export const allActions: readonly Action[] = Object.values(actions)

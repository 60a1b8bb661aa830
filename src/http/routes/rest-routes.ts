import { getSubject, listDeletions, listSubjects } from './subjects.ts'
import { sendFeedback } from './feedback.ts'
import { deleteGroup, listGroups, renameGroup } from './groups.ts'
import { createLivenessSession, getLivenessSession } from './liveness-sessions.ts'
import { getMe } from './me.ts'
import type { RestRoute } from './rest-route.ts'
import * as visitors from './visitors.ts'

/** The routes that need a key, in the order of the documentation. */
export const restRoutes: readonly RestRoute[] = [
  listSubjects,
  getSubject,
  listGroups,
  renameGroup,
  deleteGroup,
  sendFeedback,
  visitors.listVisitors,
  visitors.getVisitor,
  visitors.promoteVisitor,
  visitors.mergeVisitor,
  visitors.ignoreVisitor,
  visitors.deleteVisitor,
  listDeletions,
  createLivenessSession,
  getLivenessSession,
  getMe,
]

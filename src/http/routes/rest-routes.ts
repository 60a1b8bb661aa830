import { getSubject, listDeletions, listSubjects } from './subjects.ts'
import { sendFeedback } from './feedback.ts'
import { deleteGroup, listGroups, renameGroup } from './groups.ts'
import { createLivenessSession, getLivenessSession } from './liveness-sessions.ts'
import { getMe } from './me.ts'
import type { RestRoute } from './rest-route.ts'
import {
  deleteVisitor,
  getVisitor,
  ignoreVisitor,
  listVisitors,
  mergeVisitor,
  promoteVisitor,
} from './visitors.ts'

/** The routes that need a key, in the order of the documentation. */
export const restRoutes: readonly RestRoute[] = [
  listSubjects,
  getSubject,
  listGroups,
  renameGroup,
  deleteGroup,
  sendFeedback,
  listVisitors,
  getVisitor,
  promoteVisitor,
  mergeVisitor,
  ignoreVisitor,
  deleteVisitor,
  listDeletions,
  createLivenessSession,
  getLivenessSession,
  getMe,
]

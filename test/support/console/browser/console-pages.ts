/** The elements that a page shows while it loads. */
export const loadingSelector = '[aria-busy=true], .mantine-Skeleton-root'

/** Every page of the console: the name of its screenshots and its path. */
export const consolePages = [
  ['overview', '/'],
  ['log', '/log'],
  ['analytics', '/analytics'],
  ['playground', '/playground'],
  ['pair-tester', '/pair-tester'],
  ['documentation', '/documentation'],
  ['documentation-action', '/documentation?topic=svc.identify'],
  ['documentation-routes', '/documentation?topic=routes'],
  ['documentation-errors', '/documentation?topic=errors'],
  ['subjects', '/subjects'],
  ['groups', '/groups'],
  ['deletions', '/deletions'],
  ['projects', '/projects'],
  ['keys', '/keys'],
  ['webhooks', '/webhooks'],
  ['money', '/money'],
  ['ledger', '/money/ledger'],
  ['models', '/models'],
  ['team', '/team'],
  ['audit', '/team/audit'],
  ['system', '/system'],
  ['account', '/account'],
] as const

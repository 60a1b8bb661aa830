import { useNavigate } from '@tanstack/react-router'
import type { LogSearch } from './log-search.ts'

/** Returns a function that opens the request log with filters. */
export function useOpenLog(): (search: LogSearch) => void {
  const navigate = useNavigate()
  return (search) => void navigate({ to: '/log', search })
}

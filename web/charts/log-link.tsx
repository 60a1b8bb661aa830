import { LinkButton } from '../components/link-button.tsx'
import type { LogSearch } from './log-search.ts'

type Props = {
  readonly search: LogSearch
  /** Completes the label for screen readers, such as `of the latency chart`. */
  readonly of: string
}

/** Opens the calls of a chart in the request log, also with the keyboard. */
export function LogLink({ search, of }: Props) {
  return (
    <LinkButton
      to="/log"
      search={search}
      size="compact-xs"
      variant="default"
      aria-label={`View calls ${of}`}
    >
      View calls
    </LinkButton>
  )
}

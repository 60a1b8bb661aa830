import { outcomeTexts } from './call-outcome.tsx'
import { useApiQuery } from '../api/use-api.ts'
import { ChoiceFilter, FilterBar, TextFilter } from '../lists/filters.tsx'
import { KeyFilter } from '../lists/key-filter.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import type { TextSearchParams } from '../app/search-params.ts'

type LogFilterValues = TextSearchParams<
  | 'projectId'
  | 'keyId'
  | 'action'
  | 'result'
  | 'code'
  | 'outcome'
  | 'nearMiss'
  | 'fromUtc'
  | 'toUtc'
  | 'period'
  | 'requestId'
>

type Props = {
  readonly filters: LogFilterValues
  readonly onChange: (change: LogFilterValues) => void
  readonly onClear: () => void
  /** The calls of the page. */
  readonly calls: readonly unknown[] | undefined
}

/** Returns the filters without the project, which is chosen at the top of every page. */
export function filtersOf(filters: LogFilterValues): LogFilterValues {
  return { ...filters, projectId: undefined }
}

/** Filters by project, key, action, result, outcome, period and the start of the request id. */
export function LogFilters({ filters, calls, onChange, onClear }: Props) {
  const { projectId, keyId, action, result, code, outcome, nearMiss } = filters
  const { fromUtc, toUtc, period, requestId } = filters
  const projects = useApiQuery('/projects')
  const actions = useApiQuery('/actions')
  const errors = useApiQuery('/errors')
  return (
    <FilterBar values={filtersOf(filters)} rows={calls} onClear={onClear}>
      <ChoiceFilter
        label="Project"
        value={projectId}
        options={(projects.data?.items ?? []).map((project) => ({
          value: project.projectId,
          label: project.name,
        }))}
        onChange={(value) => onChange({ projectId: value, keyId: undefined })}
      />
      <KeyFilter
        projectId={projectId}
        value={keyId}
        onChange={(value) => onChange({ keyId: value })}
      />
      <ChoiceFilter
        label="Action"
        value={action}
        options={(actions.data ?? []).map(({ name }) => name)}
        onChange={(value) => onChange({ action: value })}
      />
      <ChoiceFilter
        label="Result"
        value={result}
        options={['ok', 'failed']}
        onChange={(value) => onChange({ result: value })}
      />
      <ChoiceFilter
        label="Error code"
        value={code}
        options={(errors.data ?? []).map((error) => error.code)}
        onChange={(value) => onChange({ code: value })}
      />
      <ChoiceFilter
        label="Outcome"
        value={outcome}
        options={Object.entries(outcomeTexts).map(([value, label]) => ({ value, label }))}
        onChange={(value) => onChange({ outcome: value })}
      />
      <ChoiceFilter
        label="Near misses"
        value={nearMiss}
        options={[
          { value: 'true', label: 'only near misses' },
          { value: 'false', label: 'without near misses' },
        ]}
        onChange={(value) => onChange({ nearMiss: value })}
      />
      <PeriodFilter {...{ fromUtc, toUtc, period, onChange }} />
      <TextFilter
        label="Request id"
        value={requestId}
        placeholder="First characters"
        problemOf={requestIdProblem}
        onChange={(value) => onChange({ requestId: value })}
      />
    </FilterBar>
  )
}

const prefixCharsMin = 4

/** Returns why a text cannot be the start of a request id. */
function requestIdProblem(text: string): string | undefined {
  if (!/^[0-9a-f-]{1,36}$/iu.test(text)) return 'Only 0–9, a–f and -'
  return text.length < prefixCharsMin ? `At least ${prefixCharsMin} characters` : undefined
}

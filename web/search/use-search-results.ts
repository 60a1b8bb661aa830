import { useQueries, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { buildPath } from '../api/api.ts'
import type { CallLogEntry, ConsoleKey, ConsoleProject, ConsoleSubject } from '../api/responses.ts'
import { useApi, useApiQuery } from '../api/use-api.ts'
import { shortIdOf, subjectNameOf } from '../format/subject-name.ts'
import {
  documentationCharsMin,
  searchDocumentation,
  type DocumentationResult,
} from './search-documentation.ts'

/** A result in the console, with its page and the parameters of the page. */
type ConsoleResult = {
  readonly id: string
  readonly label: string
  readonly description: string
  readonly to: string
  readonly search: Readonly<Record<string, string>>
}

export type SearchResult = ConsoleResult | DocumentationResult

type ResultGroup = { readonly group: string; readonly results: readonly SearchResult[] }

const resultsMax = 5
const keysMax = 200
/** Without a selected project, people are searched in the first projects of the account. */
const projectsMax = 5
const requestIdPrefix = /^[0-9a-f][0-9a-f-]{3,35}$/iu

/** Searches people, API keys, calls and the documentation; an empty text finds nothing. */
export function useSearchResults(text: string): {
  readonly groups: readonly ResultGroup[]
  readonly isFetching: boolean
} {
  const { projectId } = useSearch({ from: '__root__' })
  const isText = text !== ''
  const isRequestId = requestIdPrefix.test(text)
  const people = usePeople(text)
  const keys = useApiQuery('/keys', { query: { projectId, limit: keysMax }, enabled: isText })
  const calls = useApiQuery('/log', {
    query: { projectId, requestId: text, limit: resultsMax },
    enabled: isRequestId,
  })
  const documentation = useQuery({
    queryKey: ['documentation', text],
    queryFn: () => searchDocumentation(text),
    enabled: text.length >= documentationCharsMin,
  })
  if (!isText) return { groups: [], isFetching: false }
  const keysFound = (keys.data?.items ?? []).filter((key) => isKeyNamed(key, text))
  const callsFound = isRequestId ? (calls.data?.items ?? []) : []
  return {
    groups: [
      { group: 'People', results: people.results },
      { group: 'API keys', results: keysFound.slice(0, resultsMax).map(toKeyResult) },
      { group: 'Calls', results: callsFound.map(toCallResult) },
      { group: 'Documentation', results: documentation.data ?? [] },
    ],
    isFetching: [people, keys, calls, documentation].some(({ isFetching }) => isFetching),
  }
}

const subjectsPath = '/projects/:projectId/subjects'

function usePeople(text: string) {
  const { projectId } = useSearch({ from: '__root__' })
  const api = useApi()
  const projects = useApiQuery('/projects')
  const searched = (projects.data?.items ?? [])
    .filter((project) => projectId === undefined || project.projectId === projectId)
    .slice(0, projectsMax)
  const queries = useQueries({
    queries: searched.map((project) => {
      const pathParams = { projectId: project.projectId }
      const query = { q: text, limit: resultsMax }
      return {
        queryKey: [subjectsPath, buildPath(subjectsPath, pathParams, query)],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          api.get(subjectsPath, { pathParams, query, signal }),
        enabled: text !== '',
      }
    }),
  })
  const results = queries.flatMap(({ data }, index) => {
    const project = searched[index]
    return project ? (data?.items ?? []).map((subject) => toPersonResult(subject, project)) : []
  })
  return {
    results: results.slice(0, resultsMax),
    isFetching: queries.some(({ isFetching }) => isFetching),
  }
}

function toPersonResult(
  subject: Pick<ConsoleSubject, 'subjectId' | 'displayName' | 'externalId' | 'groups'>,
  { projectId, name }: Pick<ConsoleProject, 'projectId' | 'name'>,
): SearchResult {
  const { subjectId, groups } = subject
  return {
    id: `${projectId} ${subjectId}`,
    label: subjectNameOf(subject),
    description: [name, ...groups].join(' · '),
    to: '/subjects',
    search: { projectId, subject: subjectId },
  }
}

function isKeyNamed({ name, last4, keyId }: ConsoleKey, text: string): boolean {
  const searched = fold(text)
  return fold(name).includes(searched) || last4 === text || keyId.startsWith(searched)
}

/** Ignores case, the Unicode form and joiners. */
function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u200C\u200D]/gu, '')
}

function toKeyResult({ keyId, name, projectName, last4, state }: ConsoleKey): SearchResult {
  const description = `${projectName} · …${last4} · ${state}`
  return { id: keyId, label: name, description, to: '/keys', search: { key: keyId } }
}

function toCallResult({ callId, action, requestId, code }: CallLogEntry): SearchResult {
  return {
    id: `call ${callId}`,
    label: `${action} ${shortIdOf(requestId)}`,
    description: code ?? 'ok',
    to: '/log',
    search: { requestId, call: String(callId) },
  }
}

// A selection that somebody typed is asked about before it is taken: one that the
// run refuses would be refused again with every question that follows, each hover
// among them.
import type { Api } from '../api/client';
import { parse, SyntaxProblem } from './language';
import { failureOf } from './resource';
import { text, type Selection } from './selection';

/** The clauses that a text means, or why the run does not take it. */
export type Typed =
  | { readonly clauses: Selection; readonly problem?: never }
  | { readonly clauses?: never; readonly problem: string };

/** `within` is what would be selected with the clauses in their place. */
export async function typedClauses(
  api: Api,
  run: string,
  typed: string,
  within: (clauses: Selection) => Selection = (clauses) => clauses,
): Promise<Typed> {
  try {
    const clauses = parse(typed);
    const where = text(within(clauses));
    if (where !== '') await api.ask(run, { where });
    return { clauses };
  } catch (error) {
    if (error instanceof SyntaxProblem)
      return { problem: `${error.message} (at character ${error.position + 1})` };
    const { error: said, hint } = failureOf(error);
    return { problem: hint ? `${said}; ${hint}` : said };
  }
}

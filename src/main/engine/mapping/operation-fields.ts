// Every screen and command lists the same fields, so the tables are shared; here is where the engine finds them.
export {
  fieldsOf,
  parseFieldName,
} from '../../../shared/plan/operation-fields.ts'

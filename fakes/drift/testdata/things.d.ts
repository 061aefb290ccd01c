import { APIResource } from "../core/resource.js";
import * as OtherAPI from "./others.js";
import { APIPromise } from "../core/api-promise.js";
export declare class Things extends APIResource {
    parts: OtherAPI.Parts;
    /** A comment with `code` and 'quotes'. */
    create(ownerID: string, params: ThingCreateParams & ({
        [K in 'method' | 'path']?: never;
    } | null | undefined), options?: RequestOptions): APIPromise<Thing>;
    list(query?: ThingListParams | null | undefined, options?: RequestOptions): PagePromise<ThingsPage, Thing>;
    watch({ id, wait }?: {
        wait?: number;
    }): Promise<Thing>;
}
export type ThingsPage = CursorPage<Thing>;
export interface Base {
    id: string;
}
export interface Thing extends Base {
    state: 'on' | 'off';
    'odd-name'?: (string & {}) | null;
    parts: Array<Thing.Part>;
    labels?: {
        [key: string]: string;
    };
    self?: Thing;
    foreign: OtherAPI.Other;
}
export declare namespace Thing {
    interface Part {
        type: 'text';
        at: number;
    }
}
export interface ThingCreateParams {
    /** Path param. */
    thing_id?: string;
    'Idempotency-Key'?: string;
    name: string;
}
export interface ThingListParams {
    limit?: number;
}
export declare namespace Things {
    export { type Thing as Thing, type ThingsPage as ThingsPage, };
}
//# sourceMappingURL=things.d.ts.map
